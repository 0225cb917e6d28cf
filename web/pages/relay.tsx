import { useState } from 'preact/hooks'
import type { Api } from '../client/client.ts'
import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/command.tsx'
import { Empty } from '../parts/empty.tsx'
import { Failed } from '../parts/failed.tsx'
import { Page } from '../parts/page.tsx'
import { CallsSection } from '../parts/relay/calls.tsx'
import { ProvidersSection } from '../parts/relay/providers.tsx'
import { SavingsSection } from '../parts/relay/savings.tsx'
import { SettingsSection } from '../parts/relay/settings.tsx'
import { Spinner } from '../parts/spinner.tsx'
import { useCall } from '../parts/use-call.ts'

type Overview = Api['relay.overview']['result']

const EVERY_MS = 2000

/** Model calls of programs, answered by the agents of this computer. */
export function RelayPage() {
  const { data, problem, reload } = useCall('relay.overview', {}, { everyMs: EVERY_MS })
  return (
    <Page title="Relay" actions={data?.address && <Address address={data.address} />}>
      {problem !== null && <Failed what="The relay could not be asked" problem={problem} onRetry={reload} />}
      {data ? <Relay overview={data} onChanged={reload} /> : problem === null && <Spinner label="Loading" />}
    </Page>
  )
}

function Address({ address }: { address: string }) {
  return (
    <span class="relay-address">
      <code>{address}</code>
      <Copy text={address} label="Copy the address" />
    </span>
  )
}

function Relay({ overview, onChanged }: { overview: Overview; onChanged(): void }) {
  if (overview.state === 'off') {
    return (
      <Empty icon="radio-tower" title="The relay is off">
        It does not listen: <code>relay.enabled</code> is false, or its port is taken.{' '}
        <code>corral doctor</code> says which.
      </Empty>
    )
  }
  if (overview.state === 'unused') return <Unused address={overview.address!} onChanged={onChanged} />
  return (
    <>
      <ProvidersSection overview={overview} />
      <SavingsSection />
      <CallsSection overview={overview} />
      <SettingsSection onChanged={onChanged} />
    </>
  )
}

/** Nothing of it is loaded until a program calls, or somebody wants to set it up. */
function Unused({ address, onChanged }: { address: string; onChanged(): void }) {
  const [isOpen, setOpen] = useState(false)
  const example = `ANTHROPIC_BASE_URL=${address} ANTHROPIC_API_KEY=none`
  const setUp = <Button icon="settings" label="Set it up" onClick={() => setOpen(true)} />
  return (
    <>
      <Empty icon="radio-tower" title="No program has called yet" actions={isOpen ? undefined : setUp}>
        Programs that use the Anthropic or the OpenAI API get their answers from the agent on this computer,
        if they call <code>{address}</code> instead.
      </Empty>
      <div class="relay-example">
        <code>{example}</code>
        <Copy text={example} label="Copy the variables" />
      </div>
      {isOpen && <SettingsSection onChanged={onChanged} />}
    </>
  )
}
