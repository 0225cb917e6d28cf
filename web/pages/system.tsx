import { AccountsSection } from '../parts/system/accounts.tsx'
import { AgentsSection } from '../parts/system/agents.tsx'
import { DaemonSection } from '../parts/system/daemon.tsx'
import { DoctorSection } from '../parts/system/doctor.tsx'
import { MemorySection } from '../parts/system/memory.tsx'
import { SessionsSection } from '../parts/system/sessions.tsx'
import { UsageSection } from '../parts/system/usage.tsx'
import { Page } from '../parts/page.tsx'

/** The computer, the daemon, the agents and their accounts. */
export function SystemPage() {
  return (
    <Page title="System">
      <DoctorSection />
      <MemorySection />
      <SessionsSection />
      <AgentsSection />
      <AccountsSection />
      <UsageSection />
      <DaemonSection />
    </Page>
  )
}
