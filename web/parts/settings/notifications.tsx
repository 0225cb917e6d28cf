import { Command } from '../command.tsx'
import { Section } from '../section.tsx'

/** What tells you that something waits; honestly. */
export function NotificationsSection() {
  return (
    <Section title="Notifications" id="notifications">
      <p>
        <strong>Corral does not send notifications to your phone or your desktop yet.</strong> That is to
        come. What works today:
      </p>
      <ul class="bullets">
        <li>
          While this page is open, its tab counts the decisions that wait for you, and the Inbox shows them
          the moment they are asked.
        </li>
        <li>
          A decision waits as long as it has to: nothing is lost if you look later. A session that you snooze
          comes back by itself.
        </li>
        <li>
          In a terminal, this shows every session and what it needs: <Command text="corral top" />
        </li>
        <li>
          Applications that speak ClawDE’s, HumanLayer’s or Codecast’s protocol tell you in their own way.
        </li>
      </ul>
    </Section>
  )
}
