import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function DevicesPage() {
  return (
    <Page title="Devices">
      <Empty icon="monitor-smartphone" title="No device has been let in" />
    </Page>
  )
}
