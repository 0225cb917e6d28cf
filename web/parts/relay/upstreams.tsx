import { NEW_UPSTREAM, type UpstreamDraft } from '../../state/relay-draft.ts'
import { Button } from '../button.tsx'
import { Field } from '../field.tsx'

interface UpstreamsProps {
  upstreams: readonly UpstreamDraft[]
  problem: string | null
  onChange(upstreams: UpstreamDraft[]): void
}

/** Other APIs, asked in this order when the agent cannot answer. */
export function Upstreams({ upstreams, problem, onChange }: UpstreamsProps) {
  const change = (index: number, part: Partial<UpstreamDraft>): void =>
    onChange(upstreams.map((one, at) => (at === index ? { ...one, ...part } : one)))
  return (
    <div class="stack">
      <div>
        <h3>Other APIs</h3>
        <p class="muted small">
          Asked in this order when the agent cannot answer. A key is never shown again.
        </p>
      </div>
      {upstreams.map((upstream, index) => (
        <Upstream
          key={index}
          upstream={upstream}
          onChange={(part) => change(index, part)}
          onRemove={() => onChange(upstreams.filter((_, at) => at !== index))}
        />
      ))}
      {problem !== null && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <div>
        <Button icon="plus" label="Add an API" onClick={() => onChange([...upstreams, NEW_UPSTREAM])} />
      </div>
    </div>
  )
}

interface UpstreamProps {
  upstream: UpstreamDraft
  onChange(part: Partial<UpstreamDraft>): void
  onRemove(): void
}

function Upstream({ upstream, onChange, onRemove }: UpstreamProps) {
  return (
    <div class="upstream" role="group" aria-label={upstream.name || 'A new API'}>
      <Text label="Name" value={upstream.name} onChange={(name) => onChange({ name })} />
      <Field label="Speaks">
        {(control) => (
          <select
            {...control}
            class="input"
            value={upstream.kind}
            onChange={({ currentTarget }) => onChange({ kind: currentTarget.value as UpstreamDraft['kind'] })}
          >
            <option value="openai">OpenAI</option>
            <option value="anthropic">Anthropic</option>
          </select>
        )}
      </Field>
      <Text label="Address" value={upstream.baseUrl} onChange={(baseUrl) => onChange({ baseUrl })} mono />
      <Text
        label="Model"
        hint="Empty: the one asked for"
        value={upstream.model}
        onChange={(model) => onChange({ model })}
        mono
      />
      <Text
        label="Key"
        hint={upstream.hasKey ? 'It has one; type to replace it' : 'None'}
        value={upstream.key}
        onChange={(key) => onChange({ key })}
        secret
        mono
      />
      <Button
        kind="danger"
        icon="trash-2"
        iconOnly
        label={`Remove ${upstream.name || 'this API'}`}
        onClick={onRemove}
      />
    </div>
  )
}

interface TextProps {
  label: string
  hint?: string
  value: string
  onChange(value: string): void
  secret?: boolean
  mono?: boolean
}

function Text({ label, hint, value, onChange, secret = false, mono = false }: TextProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(control) => (
        <input
          {...control}
          class={mono ? 'input mono' : 'input'}
          type={(secret ? 'password' : 'text') as 'text'}
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  )
}
