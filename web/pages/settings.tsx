import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function SettingsPage() {
  return (
    <Page title="Settings">
      <Empty icon="settings" title="Nothing to set yet" />
    </Page>
  )
}
