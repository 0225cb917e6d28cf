import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function ChangesPage({ id }: { id: string }) {
  return (
    <Page title="Changes">
      <Empty icon="file-diff" title="Nothing to show yet">
        {id}
      </Empty>
    </Page>
  )
}
