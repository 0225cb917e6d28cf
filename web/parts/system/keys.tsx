import { useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { KEY_NAMES, type KeyName } from '../../../src/core/signin.ts'
import { client } from '../../state/connection.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Confirm } from '../confirm.tsx'
import { Field } from '../field.tsx'
import { toast } from '../toast.tsx'

type Status = Api['signin.status']['result']

const WHAT: Readonly<Record<KeyName, string>> = {
  anthropic: 'Anthropic, for Claude Code',
  gemini: 'Gemini, for Gemini CLI',
  openrouter: 'OpenRouter',
  exa: 'Exa, for searches',
}

interface KeyListProps {
  status: Status
  mayChange: boolean
  onChanged(): void
}

/** API keys that Corral keeps for agents. */
export function KeyList({ status, mayChange, onChanged }: KeyListProps) {
  const [asked, setAsked] = useState<{ name: KeyName; what: 'set' | 'forget' } | null>(null)
  return (
    <div class="stack-small">
      <h3>Keys</h3>
      <ul class="rows">
        {KEY_NAMES.map((name) => {
          const kept = status.keys.find((key) => key.name === name)
          return (
            <li key={name} class="along">
              <span class="along-main">
                {WHAT[name]} {kept && <Badge tone="good">in the {kept.place}</Badge>}
              </span>
              {mayChange && (
                <span class="section-actions">
                  <Button
                    label={kept ? 'Replace' : 'Add a key'}
                    onClick={() => setAsked({ name, what: 'set' })}
                  />
                  {kept && (
                    <Button label="Forget" kind="danger" onClick={() => setAsked({ name, what: 'forget' })} />
                  )}
                </span>
              )}
            </li>
          )
        })}
      </ul>
      {asked?.what === 'set' && (
        <SetKey name={asked.name} onClose={() => setAsked(null)} onChanged={onChanged} />
      )}
      {asked?.what === 'forget' && (
        <Confirm
          title={`Forget the key for ${WHAT[asked.name]}?`}
          action="Forget"
          danger
          onClose={() => setAsked(null)}
          onConfirm={async () => {
            await client().call('signin.forget', { name: asked.name })
            onChanged()
          }}
        >
          <p>Agents that use it need another account from then on.</p>
        </Confirm>
      )}
    </div>
  )
}

function SetKey({ name, onClose, onChanged }: { name: KeyName; onClose(): void; onChanged(): void }) {
  const [key, setKey] = useState('')
  async function keep(): Promise<void> {
    if (key.trim() === '') throw new Error('Paste the key first.')
    const { place, why } = await client().call('signin.setKey', { name, key: key.trim() })
    toast(why === null ? `The key is in the ${place}.` : `The key is in a file: ${why}.`)
    onChanged()
  }
  return (
    <Confirm title={`A key for ${WHAT[name]}`} action="Keep it" onConfirm={keep} onClose={onClose}>
      <Field
        label="Key"
        hint="It goes to the daemon on this computer, and nowhere else until an agent uses it."
      >
        {(control) => (
          <input
            {...control}
            class="input mono"
            type="password"
            autocomplete="off"
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        )}
      </Field>
    </Confirm>
  )
}
