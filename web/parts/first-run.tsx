import { useState } from 'preact/hooks'
import { client } from '../state/connection.ts'
import { overlay } from '../state/overlay.ts'
import { go } from '../state/router.ts'
import { wordsOf } from '../state/session-actions.ts'
import { AgentsGuide } from './agents-guide.tsx'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

/** What somebody sees who has no session yet: something real with one click, and how to go on from there. */
export function FirstRun() {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)

  async function look(): Promise<void> {
    setBusy(true)
    setProblem(null)
    try {
      const { id } = await client().call('demo.session', { origin: 'dashboard' })
      go({ page: 'session', id })
    } catch (error) {
      setProblem(`The first look could not be started: ${wordsOf(error)}`)
      setBusy(false)
    }
  }

  return (
    <div class="welcome">
      <section class="welcome-hero">
        <h2>See an agent at work</h2>
        <p>
          A session of the built-in demo agent: it writes two files for real, and asks you before it runs
          their test. You look at what it has changed, and merge it. It takes a minute, needs no account, and
          stays in a repository of its own.
        </p>
        <ol class="welcome-steps">
          <li>
            <Icon name="message-square" /> Watch it think and write
          </li>
          <li>
            <Icon name="inbox" /> Answer its question
          </li>
          <li>
            <Icon name="file-diff" /> Look at the changes
          </li>
          <li>
            <Icon name="git-merge" /> Merge them
          </li>
        </ol>
        <div class="welcome-actions">
          <Button
            kind="primary"
            icon="play"
            label="Show me a session"
            busy={busy}
            onClick={() => void look()}
          />
          <Button icon="plus" label="New session with my own agent" onClick={() => (overlay.value = 'new')} />
        </div>
        {problem !== null && (
          <p class="field-error" role="alert">
            <Icon name="circle-alert" />
            {problem}
          </p>
        )}
      </section>
      <AgentsGuide />
    </div>
  )
}
