import { Facts } from '../section.tsx'

/** The two things that a device can be let in for. */
export function Scopes() {
  return (
    <>
      <Facts
        rows={[
          [
            'Use sessions',
            'See every session, start and steer them, answer decisions, merge and restore work.',
          ],
          [
            'Manage',
            'All of that, and: let devices in and put them out, set the rules of directories, change the relay, sign in to accounts, stop the daemon.',
          ],
        ]}
      />
      <p class="muted small">
        An agent can run commands on this computer. So can whoever may use its sessions: let in only what is
        yours.
      </p>
    </>
  )
}
