import { useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { client, me } from '../../state/connection.ts'
import { mayManage } from '../../state/may-manage.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Confirm } from '../confirm.tsx'
import { Empty } from '../empty.tsx'
import { Section } from '../section.tsx'
import { Ago } from '../ago.tsx'
import { toast } from '../toast.tsx'
import { RenameDialog } from './rename-dialog.tsx'

type Device = Api['device.list']['result']['devices'][number]

const PLATFORMS: Readonly<Record<Device['platform'], string>> = {
  ios: 'iPhone or iPad',
  android: 'Android',
  macos: 'Mac',
  windows: 'Windows',
  linux: 'Linux',
  web: 'Browser',
  other: 'Other',
}

export function DeviceList({ devices, onPair }: { devices: readonly Device[]; onPair(): void }) {
  const [renamed, setRenamed] = useState<Device | null>(null)
  const [revoked, setRevoked] = useState<Device | null>(null)
  if (devices.length === 0) return <NoDevices onPair={onPair} />
  return (
    <Section title="Devices that were let in">
      <ul class="rows">
        {devices.map((device) => (
          <li key={device.id} class="along">
            <About device={device} />
            <DeviceActions device={device} onRename={setRenamed} onRevoke={setRevoked} />
          </li>
        ))}
      </ul>
      {renamed && <RenameDialog device={renamed} onClose={() => setRenamed(null)} />}
      {revoked && <RevokeDialog device={revoked} onClose={() => setRevoked(null)} />}
    </Section>
  )
}

function NoDevices({ onPair }: { onPair(): void }) {
  const actions = mayManage.value ? (
    <Button icon="qr-code" label="Let a device in" onClick={onPair} />
  ) : undefined
  return (
    <Empty icon="monitor-smartphone" title="No device has been let in" actions={actions}>
      Only whoever has this computer’s token can use Corral.
    </Empty>
  )
}

function About({ device }: { device: Device }) {
  const isThis = me.value?.device?.id === device.id
  return (
    <div class="along-main">
      <div class="along">
        <strong>{device.name}</strong>
        {isThis && <Badge tone="good">this one</Badge>}
        {device.scopes.includes('manage') && <Badge tone="accent">manage</Badge>}
      </div>
      <div class="muted small">
        {PLATFORMS[device.platform]} · let in <Ago at={device.pairedAt} /> ·{' '}
        {device.lastSeenAt === null ? (
          'not seen since'
        ) : (
          <>
            seen <Ago at={device.lastSeenAt} />
          </>
        )}
      </div>
    </div>
  )
}

function DeviceActions({
  device,
  onRename,
  onRevoke,
}: {
  device: Device
  onRename(device: Device): void
  onRevoke(device: Device): void
}) {
  const isThis = me.value?.device?.id === device.id
  if (!mayManage.value && !isThis) return null
  return (
    <div class="section-actions">
      <Button icon="pencil" label="Rename" onClick={() => onRename(device)} />
      <Button kind="danger" icon="ban" label="Revoke" onClick={() => onRevoke(device)} />
    </div>
  )
}

function RevokeDialog({ device, onClose }: { device: Device; onClose(): void }) {
  const isThis = me.value?.device?.id === device.id
  async function revoke(): Promise<void> {
    await client().call('device.revoke', { deviceId: device.id })
    toast(`${device.name} has been put out.`)
  }
  return (
    <Confirm title={`Put ${device.name} out?`} action="Revoke" danger onConfirm={revoke} onClose={onClose}>
      <p>
        Its connections are closed at once, and its token is worth nothing from then on. To come back it needs
        a new PIN.
      </p>
      {isThis && <p class="problem">This is the device that you are using: you will be signed out.</p>}
    </Confirm>
  )
}
