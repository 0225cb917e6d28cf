import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function UnknownPage() {
  return (
    <Page title="Not found">
      <Empty icon="circle-question-mark" title="There is no such page" actions={<a href="/">Go to Now</a>} />
    </Page>
  )
}
