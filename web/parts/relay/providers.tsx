import type { Api } from '../../client/client.ts'
import { Badge, type Tone } from '../badge.tsx'
import { Figure, Section } from '../section.tsx'
import { Time } from '../time.tsx'

type Overview = Api['relay.overview']['result']
type Provider = Overview['providers'][number]

const TONES: Readonly<Record<Provider['status'], Tone>> = {
  ok: 'good',
  degraded: 'needs',
  unavailable: 'bad',
}
const WORDS: Readonly<Record<Provider['status'], string>> = {
  ok: 'well',
  degraded: 'resting',
  unavailable: 'away',
}

/** Who answers, and how many wait for the next call. */
export function ProvidersSection({ overview }: { overview: Overview }) {
  const { pool, license, runningCount } = overview
  return (
    <Section title="Who answers" about="Asked in this order, until one answers.">
      <div class="figures">
        <Figure name="calls under way" value={runningCount} />
        {pool && (
          <>
            <Figure name="agents wait" value={pool.idle} hint="Processes that wait for the next call" />
            <Figure name="agents start" value={pool.spawning} />
            <Figure
              name="in use"
              value={pool.active}
              hint="Sessions with a name, and calls that stand for themselves"
            />
          </>
        )}
      </div>
      <ol class="rows">
        {overview.providers.map((provider) => (
          <li key={provider.provider} class="along">
            <strong>{provider.provider}</strong>
            <Badge tone={TONES[provider.status]}>{WORDS[provider.status]}</Badge>
            {provider.reason !== null && <span class="muted along-main">{provider.reason}</span>}
            {provider.retryAt !== null && (
              <span class="muted small">
                asked again <Time at={provider.retryAt} />
              </span>
            )}
          </li>
        ))}
      </ol>
      {license?.configured && <License license={license} />}
    </Section>
  )
}

function License({ license }: { license: NonNullable<Overview['license']> }) {
  const { valid, tier, usageThisMonth, usageCap } = license
  return (
    <p class="small">
      License: <Badge tone={valid ? 'good' : 'bad'}>{valid ? tier : 'not valid'}</Badge>{' '}
      <span class="muted">
        {usageThisMonth} {usageCap === null ? '' : `of ${usageCap} `}calls this month
      </span>
    </p>
  )
}
