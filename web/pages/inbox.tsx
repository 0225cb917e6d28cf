import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function InboxPage() {
  return (
    <Page title="Inbox">
      <Empty icon="inbox" title="No decision waits for you" />
    </Page>
  )
}
