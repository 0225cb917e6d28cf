import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function SearchPage() {
  return (
    <Page title="Search">
      <Empty icon="search" title="Search everything that was said" />
    </Page>
  )
}
