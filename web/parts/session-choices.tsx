import { useEffect, useId, useState } from 'preact/hooks'
import { type Effort, isEffort } from '../../src/core/effort.ts'
import type { Api } from '../client/client.ts'
import { client } from '../state/connection.ts'
import { MODE_WORDS, MODES_IN_ORDER } from '../state/modes.ts'
import { modeOfNew, newSession } from '../state/new-session.ts'
import { Field } from './field.tsx'

/** What the agent may do without asking. */
export function ModeChoice() {
  const id = useId()
  return (
    <fieldset class="pick">
      <legend class="field-label">Mode</legend>
      <div class="pick-row">
        {MODES_IN_ORDER.map((mode) => (
          <label key={mode} class="pick-pill">
            <input
              type="radio"
              name={id}
              checked={modeOfNew.value === mode}
              aria-describedby={`${id}-means`}
              onChange={() => (newSession.mode.value = mode)}
            />
            <span>{MODE_WORDS[mode].name}</span>
          </label>
        ))}
      </div>
      <p class="field-hint" id={`${id}-means`} role="status">
        {MODE_WORDS[modeOfNew.value].means}
      </p>
    </fieldset>
  )
}

/** A checkout of its own, where there is a repository. */
export function WorktreeChoice() {
  const { worktree, carry } = newSession
  return (
    <div class="field">
      <label class="tick">
        <input type="checkbox" checked={worktree.value} onChange={() => (worktree.value = !worktree.value)} />
        <span>
          In a worktree of its own
          <span class="field-hint"> Its work stays apart until you merge it.</span>
        </span>
      </label>
      {worktree.value && (
        <label class="tick tick-sub">
          <input type="checkbox" checked={carry.value} onChange={() => (carry.value = !carry.value)} />
          <span>Bring my uncommitted work along</span>
        </label>
      )}
    </div>
  )
}

type Model = Api['agents.models']['result']['models'][number]

/** Which model, and how long it thinks; nothing where the agent does not say. */
export function ModelChoice({ agent }: { agent: string }) {
  const models = useModels(agent)
  const { model, effort } = newSession
  if (models.length === 0) return null
  const chosen = models.find(({ id }) => id === model.value)
  const efforts = chosen?.efforts ?? []
  return (
    <div class="field-pair">
      <Field label="Model" hint={chosen?.description}>
        {(control) => (
          <select
            {...control}
            class="input"
            value={model.value ?? ''}
            onChange={({ currentTarget }) => {
              model.value = currentTarget.value || null
              effort.value = null
            }}
          >
            <option value="">As the agent does by itself</option>
            {models.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      {efforts.length > 0 && <EffortChoice efforts={efforts} usual={chosen?.defaultEffort} />}
    </div>
  )
}

function EffortChoice({ efforts, usual }: { efforts: readonly Effort[]; usual: Effort | undefined }) {
  return (
    <Field label="Thinking">
      {(control) => (
        <select
          {...control}
          class="input"
          value={newSession.effort.value ?? ''}
          onChange={({ currentTarget: { value } }) =>
            (newSession.effort.value = isEffort(value) ? value : null)
          }
        >
          <option value="">{usual ? `Usual (${usual})` : 'Usual'}</option>
          {efforts.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

function useModels(agent: string): readonly Model[] {
  const [models, setModels] = useState<readonly Model[]>([])
  useEffect(() => {
    let isOver = false
    setModels([])
    if (agent === '') return
    client()
      .call('agents.models', { agent })
      .then(
        (found) => !isOver && setModels(found.models),
        () => {}, // it then chooses by itself
      )
    return () => void (isOver = true)
  }, [agent])
  return models
}
