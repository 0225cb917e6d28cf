import type { Api } from '../../client/client.ts'
import { mayManage } from '../../state/may-manage.ts'
import { byTightness, leftPercent, quotaTone, windowName, type QuotaWindow } from '../../state/quota.ts'
import { Ago } from '../ago.tsx'
import { Failed } from '../failed.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import { useCall } from '../use-call.ts'
import { useEvents } from '../use-events.ts'
import { KeyList } from './keys.tsx'
import { SignInList } from './sign-in.tsx'

type Agent = Api['agents.list']['result']['agents'][number]

const TOLD = ['agent.limits'] as const

/** What is left of subscriptions, and how to sign in. Money is another matter: that is usage. */
export function AccountsSection() {
  const agents = useCall('agents.list', {})
  const signin = useCall('signin.status', {})
  useEvents({ types: TOLD }, agents.reload)
  const told = agents.data?.agents.filter(({ limits }) => limits !== null) ?? []
  return (
    <>
      <Section
        title="Quota"
        about="What is left of subscriptions, as the agents have told it. It is not money: that is below."
      >
        {agents.problem !== null && (
          <Failed what="The accounts could not be read" problem={agents.problem} onRetry={agents.reload} />
        )}
        {agents.data && told.length === 0 && (
          <p class="muted">No agent has told of a subscription yet. Agents tell while they work.</p>
        )}
        <div class="columns">
          {told.map((agent) => (
            <Quota key={agent.name} agent={agent} />
          ))}
        </div>
      </Section>
      <Section
        title="Accounts and keys"
        about="Kept in the keychain of this computer, or in a file that only you can read. A key is never shown again."
      >
        {signin.problem !== null && (
          <Failed what="The accounts could not be read" problem={signin.problem} onRetry={signin.reload} />
        )}
        {signin.data && (
          <>
            <SignInList status={signin.data} mayChange={mayManage.value} onChanged={signin.reload} />
            <KeyList status={signin.data} mayChange={mayManage.value} onChanged={signin.reload} />
          </>
        )}
      </Section>
    </>
  )
}

function Quota({ agent: { title, limits } }: { agent: Agent }) {
  if (!limits) return null
  return (
    <div class="stack-small">
      <div class="along">
        <strong>{title}</strong>
        {limits.plan !== undefined && <span class="muted">{limits.plan}</span>}
        <span class="muted small">
          told <Ago at={limits.at} />
        </span>
      </div>
      {limits.windows.length === 0 && <p class="muted small">Every window has begun anew since.</p>}
      {byTightness(limits.windows).map((window) => (
        <QuotaBar key={window.name} window={window} />
      ))}
    </div>
  )
}

function QuotaBar({ window }: { window: QuotaWindow }) {
  const left = leftPercent(window)
  const name = windowName(window)
  return (
    <div class="quota">
      <div class="along spread small">
        <span>{name}</span>
        <span class="muted">
          {left} % left
          {window.resetsAt !== null && (
            <>
              , begins anew <Time at={window.resetsAt} />
            </>
          )}
        </span>
      </div>
      <meter
        class={`quota-bar quota-${quotaTone(window)}`}
        min={0}
        max={100}
        value={100 - left}
        aria-label={`${name}: ${100 - left} % used`}
      />
    </div>
  )
}
