import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function SystemPage() {
  return (
    <Page title="System">
      <Empty icon="layers" title="Nothing to show yet" />
    </Page>
  )
}
