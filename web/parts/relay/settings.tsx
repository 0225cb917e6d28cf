import { useEffect, useState } from 'preact/hooks'
import { NativeError, type Api } from '../../client/client.ts'
import { client } from '../../state/connection.ts'
import { mayManage } from '../../state/may-manage.ts'
import { draftOf, patchOf, type RelayDraft } from '../../state/relay-draft.ts'
import { Button } from '../button.tsx'
import { Switch } from '../choice.tsx'
import { Failed } from '../failed.tsx'
import { Field } from '../field.tsx'
import { Section } from '../section.tsx'
import { Spinner } from '../spinner.tsx'
import { toast } from '../toast.tsx'
import { problemOf, useCall } from '../use-call.ts'
import { Upstreams } from './upstreams.tsx'

type Settings = Api['relay.settings.get']['result']

/** What the relay does with the next call. */
export function SettingsSection({ onChanged }: { onChanged(): void }) {
  const { data, problem, reload } = useCall('relay.settings.get', {})
  const agents = useCall('agents.list', {})
  function saved(): void {
    reload()
    onChanged()
  }
  return (
    <Section title="Settings" about="They hold from the next call on.">
      {problem !== null && (
        <Failed what="The settings could not be read" problem={problem} onRetry={reload} />
      )}
      {data ? (
        <Form
          settings={data}
          agents={agents.data?.agents.filter(({ installed }) => installed).map(({ name }) => name) ?? []}
          onSaved={saved}
        />
      ) : (
        problem === null && <Spinner label="Loading" />
      )}
    </Section>
  )
}

interface Refused {
  field: string
  message: string
}

function Form({ settings, agents, onSaved }: { settings: Settings; agents: string[]; onSaved(): void }) {
  const [draft, setDraft] = useState<RelayDraft>(() => draftOf(settings))
  const [refused, setRefused] = useState<Refused | null>(null)
  const [busy, setBusy] = useState(false)
  const key = JSON.stringify(settings)
  useEffect(() => setDraft(draftOf(settings)), [key])
  const patch = patchOf(draft, settings)
  const mayChange = mayManage.value
  const change = (part: Partial<RelayDraft>): void => setDraft({ ...draft, ...part })

  async function save(): Promise<void> {
    if (!patch) return
    setBusy(true)
    setRefused(null)
    try {
      await client().call('relay.settings.set', patch)
      toast('The relay’s settings are changed.')
      onSaved()
    } catch (error) {
      const field = error instanceof NativeError ? String(error.data['field'] ?? '') : ''
      setRefused({ field, message: problemOf(error) })
    } finally {
      setBusy(false)
    }
  }

  return (
    <form
      class="relay-form"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <fieldset disabled={!mayChange}>
        <Basics draft={draft} agents={agents} refused={refused} change={change} />
        <Upstreams
          upstreams={draft.upstreams}
          problem={refused?.field.startsWith('upstreams') ? refused.message : null}
          onChange={(upstreams) => change({ upstreams })}
        />
      </fieldset>
      {refused && !KNOWN.some((field) => refused.field.startsWith(field)) && (
        <p class="problem" role="alert">
          {refused.message}
        </p>
      )}
      <div class="section-actions">
        <Button type="submit" kind="primary" label="Save" busy={busy} disabled={!patch || !mayChange} />
        {patch && <Button label="Undo" onClick={() => setDraft(draftOf(settings))} />}
        {!mayChange && <span class="muted">This device may look, but not change them.</span>}
      </div>
    </form>
  )
}

const KNOWN = ['workingDir', 'poolSize', 'agent', 'upstreams']
const MODES: Readonly<Record<Settings['mode'], string>> = {
  auto: 'auto: everything',
  code: 'code: edits of files',
  plan: 'plan: only look',
  ask: 'ask: nothing',
}

interface BasicsProps {
  draft: RelayDraft
  agents: string[]
  refused: Refused | null
  change(part: Partial<RelayDraft>): void
}

function Basics({ draft, agents, refused, change }: BasicsProps) {
  const errorOf = (field: string): string | null => (refused?.field === field ? refused.message : null)
  const names = agents.includes(draft.agent) ? agents : [draft.agent, ...agents]
  return (
    <div class="relay-fields">
      <Choice
        label="Agent"
        hint="Answers first."
        error={errorOf('agent')}
        options={names.map((name) => [name, name])}
        value={draft.agent}
        onChange={(agent) => change({ agent })}
      />
      <Field
        label="Waiting agents"
        hint="Processes that wait, so that a call is answered at once."
        error={errorOf('poolSize')}
      >
        {(control) => (
          <input
            {...control}
            class="input"
            type="number"
            min={0}
            max={64}
            value={draft.poolSize}
            onInput={({ currentTarget }) => change({ poolSize: currentTarget.value })}
          />
        )}
      </Field>
      <Field
        label="Working directory"
        hint="Empty: a directory of the relay’s own."
        error={errorOf('workingDir')}
      >
        {(control) => (
          <input
            {...control}
            class="input mono"
            value={draft.workingDir}
            onInput={({ currentTarget }) => change({ workingDir: currentTarget.value })}
          />
        )}
      </Field>
      <Choice
        label="Without a question"
        hint="What the agent’s own tools may do. Nobody is there to answer one."
        error={null}
        options={Object.entries(MODES)}
        value={draft.mode}
        onChange={(mode) => change({ mode: mode as RelayDraft['mode'] })}
      />
      <Switches draft={draft} change={change} />
    </div>
  )
}

interface ChoiceProps {
  label: string
  hint: string
  error: string | null
  options: readonly (readonly [value: string, words: string])[]
  value: string
  onChange(value: string): void
}

function Choice({ label, hint, error, options, value, onChange }: ChoiceProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select
          {...control}
          class="input"
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {options.map(([one, words]) => (
            <option key={one} value={one}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function Switches({ draft, change }: Pick<BasicsProps, 'draft' | 'change'>) {
  return (
    <div class="relay-switches">
      <Switch
        label="The agent keeps its own tools"
        hint="It may then read, write and run things in the working directory, for any program on this computer that calls."
        checked={draft.builtinToolsEnabled}
        onChange={(builtinToolsEnabled) => change({ builtinToolsEnabled })}
      />
      <Switch
        label="Agents wait before the first call"
        hint="They use memory although nobody calls."
        checked={draft.prewarm}
        onChange={(prewarm) => change({ prewarm })}
      />
      <Switch
        label="Keep beginnings of prompts, and answers"
        hint="With the last 1,000 calls, on this computer."
        checked={draft.storePrompts}
        onChange={(storePrompts) => change({ storePrompts })}
      />
    </div>
  )
}
