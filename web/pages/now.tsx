import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function NowPage() {
  return (
    <Page title="Now">
      <Empty icon="activity" title="Nothing is going on" />
    </Page>
  )
}
