import { FirstRun } from '../parts/first-run.tsx'
import { Page } from '../parts/page.tsx'

export function WelcomePage() {
  return (
    <Page title="Welcome">
      <FirstRun />
    </Page>
  )
}
