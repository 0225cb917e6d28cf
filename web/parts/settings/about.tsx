import { useState } from 'preact/hooks'
import { signOut } from '../../client/pass.ts'
import { me } from '../../state/connection.ts'
import { Button } from '../button.tsx'
import { Confirm } from '../confirm.tsx'
import { Facts, Section } from '../section.tsx'

/** What the dashboard is made with, as their licences want it told. */
const PARTS: readonly { name: string; licence: string; by: string }[] = [
  { name: 'Preact', licence: 'MIT', by: '© 2015-present Jason Miller' },
  { name: 'Preact Signals', licence: 'MIT', by: '© 2022-present Preact Team' },
  { name: 'TanStack Virtual', licence: 'MIT', by: '© 2021-present Tanner Linsley' },
  { name: 'Marked', licence: 'MIT', by: '© 2018+ MarkedJS, © 2011-2018 Christopher Jeffrey' },
  { name: 'remend', licence: 'Apache-2.0', by: '© 2023 Vercel, Inc.' },
  { name: 'DOMPurify', licence: 'Apache-2.0 or MPL-2.0', by: '© Cure53 and other contributors' },
  { name: 'highlight.js', licence: 'BSD-3-Clause', by: '© 2006 Ivan Sagalaev' },
  { name: 'jsdiff', licence: 'BSD-3-Clause', by: '© 2009-2015 Kevin Decker' },
  { name: 'uPlot', licence: 'MIT', by: '© 2022 Leon Sorokin' },
  { name: 'Lucide', licence: 'ISC', by: '© 2026 Lucide Icons and Contributors' },
]

/** Who uses this browser, and what this is. */
export function AboutSection() {
  const [isLeaving, setLeaving] = useState(false)
  const device = me.value?.device
  async function leave(): Promise<void> {
    await signOut()
    location.assign('/signin')
  }
  return (
    <Section
      title="This browser"
      id="about"
      actions={<Button icon="log-out" label="Sign out" onClick={() => setLeaving(true)} />}
    >
      <Facts
        rows={[
          ['Signed in as', device ? `the device ${device.name}` : 'the owner'],
          [
            'May',
            device && !device.scopes.includes('manage')
              ? 'use sessions'
              : 'use sessions, and manage this daemon',
          ],
          ['Corral', me.value?.version ?? '–'],
          ['Licence', 'MIT'],
        ]}
      />
      <details>
        <summary>Made with</summary>
        <ul class="licences small">
          {PARTS.map(({ name, licence, by }) => (
            <li key={name}>
              <strong>{name}</strong> <span class="muted">{licence}</span> {by}
            </li>
          ))}
        </ul>
      </details>
      {isLeaving && (
        <Confirm title="Sign out?" action="Sign out" onConfirm={leave} onClose={() => setLeaving(false)}>
          <p>
            To come back you need <code>corral open</code>, the token, or a PIN.
          </p>
        </Confirm>
      )}
    </Section>
  )
}
