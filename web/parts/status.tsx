import type { Status } from '../client/client.ts'
import { status } from '../state/connection.ts'

const SAYS: Record<Status, string> = {
  live: 'Live',
  connecting: 'Connecting',
  lost: 'Connection lost',
  signed_out: 'Signed out',
}

/** Whether what is on the screen is live. */
export function StatusLine() {
  return (
    <div class="status" data-status={status.value} role="status">
      <span class="status-dot" aria-hidden="true" />
      {SAYS[status.value]}
    </div>
  )
}
