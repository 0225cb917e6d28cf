import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function RelayPage() {
  return (
    <Page title="Relay">
      <Empty icon="radio-tower" title="No calls yet" />
    </Page>
  )
}
