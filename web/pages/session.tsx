import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function SessionPage({ id }: { id: string }) {
  return (
    <Page title="Session">
      <Empty icon="message-square" title="Nothing to show yet">
        {id}
      </Empty>
    </Page>
  )
}
