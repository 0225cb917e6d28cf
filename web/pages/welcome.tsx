import { Empty } from '../parts/empty.tsx'
import { Page } from '../parts/page.tsx'

export function WelcomePage() {
  return (
    <Page title="Welcome">
      <Empty icon="zap" title="Welcome to Corral" />
    </Page>
  )
}
