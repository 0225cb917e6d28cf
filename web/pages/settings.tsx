import { Page } from '../parts/page.tsx'
import { AboutSection } from '../parts/settings/about.tsx'
import { AppearanceSection } from '../parts/settings/appearance.tsx'
import { KeyboardSection } from '../parts/settings/keyboard.tsx'
import { NewSessionsSection } from '../parts/settings/new-sessions.tsx'
import { NotificationsSection } from '../parts/settings/notifications.tsx'
import { RulesSection } from '../parts/settings/rules.tsx'

/** What holds for this browser, and the rules that hold for everybody. */
export function SettingsPage() {
  return (
    <Page title="Settings">
      <RulesSection />
      <AppearanceSection />
      <NewSessionsSection />
      <NotificationsSection />
      <KeyboardSection />
      <AboutSection />
    </Page>
  )
}
