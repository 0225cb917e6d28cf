import { useEffect, useState } from 'preact/hooks'
import type { Content } from '../../../src/core/content.ts'
import { eventAt } from '../../state/call-details.ts'
import { client } from '../../state/connection.ts'
import type { UserRow } from '../../state/row.ts'
import { inert } from '../inert.ts'
import { Menu, type MenuItem } from '../menu.tsx'
import { Pictures } from '../pictures.tsx'

export interface UserProps {
  row: UserRow
  /** What can be done with it. */
  actions: readonly MenuItem[]
}

/** What a person said. */
export function User({ row, actions }: UserProps) {
  const content = useContent(row)
  const text = content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')
  return (
    <div class="entry-user">
      <div class="entry-user-box">
        {row.steer && <span class="entry-note">While it was working</span>}
        {text !== '' && <p class="entry-user-text">{inert(text)}</p>}
        <Pictures content={content} />
      </div>
      <Menu kind="quiet" icon="ellipsis" iconOnly label="What to do with this message" items={actions} />
    </div>
  )
}

/** Large pictures are not in the row; they are read when it is seen. */
function useContent(row: UserRow): readonly Content[] {
  const [whole, setWhole] = useState<readonly Content[] | null>(null)
  const isCut = row.content.some((part) => part.type !== 'text' && part.data === '')
  useEffect(() => {
    if (!isCut || whole) return
    let wanted = true
    wholeContent(row).then(
      (content) => wanted && content && setWhole(content),
      () => {}, // a frame without its picture
    )
    return () => void (wanted = false)
  }, [row.id, isCut])
  return whole ?? row.content
}

async function wholeContent(row: UserRow): Promise<readonly Content[] | null> {
  if (!row.steer) return (await client().call('turn.get', { turnId: row.messageId })).input
  const event = await eventAt(row.seq)
  return event?.type === 'turn.steer_accepted' ? event.input : null
}
