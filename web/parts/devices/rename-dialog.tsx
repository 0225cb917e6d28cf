import { useState } from 'preact/hooks'
import { client } from '../../state/connection.ts'
import { Confirm } from '../confirm.tsx'
import { Field } from '../field.tsx'

const MAX_NAME = 100

export function RenameDialog({ device, onClose }: { device: { id: string; name: string }; onClose(): void }) {
  const [name, setName] = useState(device.name)
  async function rename(): Promise<void> {
    const wanted = name.trim()
    if (wanted === '') throw new Error('A device needs a name.')
    if (wanted !== device.name) await client().call('device.rename', { deviceId: device.id, name: wanted })
  }
  return (
    <Confirm title="Rename the device" action="Rename" onConfirm={rename} onClose={onClose}>
      <Field label="Name">
        {(control) => (
          <input
            {...control}
            class="input"
            maxLength={MAX_NAME}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
    </Confirm>
  )
}
