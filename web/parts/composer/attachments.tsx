import type { Signal } from '@preact/signals'
import type { Attachment } from '../../state/attachments.ts'
import { Button } from '../button.tsx'

/** The pictures that go with the next message. */
export function Attachments({ attachments }: { attachments: Signal<readonly Attachment[]> }) {
  if (attachments.value.length === 0) return null
  const drop = (id: number): void =>
    void (attachments.value = attachments.peek().filter((one) => one.id !== id))
  return (
    <ul class="attachments" aria-label="Pictures">
      {attachments.value.map(({ id, name, mediaType, data }) => (
        <li key={id} class="attachment">
          <img src={`data:${mediaType};base64,${data}`} alt="" />
          <span class="attachment-name">{name}</span>
          <Button kind="quiet" icon="x" iconOnly label={`Leave ${name} out`} onClick={() => drop(id)} />
        </li>
      ))}
    </ul>
  )
}
