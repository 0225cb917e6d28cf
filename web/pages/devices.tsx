import { useState } from 'preact/hooks'
import { DeviceList } from '../parts/devices/device-list.tsx'
import { PairDialog } from '../parts/devices/pair-dialog.tsx'
import { Scopes } from '../parts/devices/scopes.tsx'
import { Button } from '../parts/button.tsx'
import { Failed } from '../parts/failed.tsx'
import { Page } from '../parts/page.tsx'
import { Section } from '../parts/section.tsx'
import { Spinner } from '../parts/spinner.tsx'
import { useCall } from '../parts/use-call.ts'
import { useEvents } from '../parts/use-events.ts'
import { mayManage } from '../state/may-manage.ts'

const CHANGES = ['device.paired', 'device.renamed', 'device.revoked'] as const

/** Phones, browsers and programs that were let in. */
export function DevicesPage() {
  const { data, problem, reload } = useCall('device.list', {})
  const [isPairing, setPairing] = useState(false)
  useEvents({ types: CHANGES }, reload)
  const pair = (
    <Button
      kind="primary"
      icon="qr-code"
      label="Let a device in"
      disabled={!mayManage.value}
      onClick={() => setPairing(true)}
    />
  )
  return (
    <Page title="Devices" actions={pair}>
      {!mayManage.value && (
        <p class="muted">
          This device may use sessions, but not let others in. On the computer that runs Corral,{' '}
          <code>corral pair</code> does.
        </p>
      )}
      {problem !== null && (
        <Failed what="The devices could not be listed" problem={problem} onRetry={reload} />
      )}
      {data ? (
        <DeviceList devices={data.devices} onPair={() => setPairing(true)} />
      ) : (
        problem === null && <Spinner label="Loading the devices" />
      )}
      <Section title="What devices may do">
        <Scopes />
      </Section>
      {isPairing && <PairDialog onClose={() => setPairing(false)} />}
    </Page>
  )
}
