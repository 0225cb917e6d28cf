import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { PROVIDERS, type Provider } from '../../../src/core/signin.ts'
import { client } from '../../state/connection.ts'
import { Ago } from '../ago.tsx'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { Confirm } from '../confirm.tsx'
import { Copy } from '../command.tsx'
import { Dialog } from '../dialog.tsx'
import { Spinner } from '../spinner.tsx'
import { problemOf } from '../use-call.ts'

type Status = Api['signin.status']['result']
type FlowEvent = Api['signin.flow']['result']['events'][number]

const WHAT: Readonly<Record<Provider, string>> = {
  openai: 'ChatGPT, for Codex',
  antigravity: 'Antigravity (Google)',
}

const WAIT_MS = 25_000

interface SignInListProps {
  status: Status
  mayChange: boolean
  onChanged(): void
}

/** Accounts that one signs in to with a browser. */
export function SignInList({ status, mayChange, onChanged }: SignInListProps) {
  const [flow, setFlow] = useState<Provider | null>(null)
  const [leaving, setLeaving] = useState<Provider | null>(null)
  return (
    <div class="stack-small">
      <h3>Accounts</h3>
      <ul class="rows">
        {PROVIDERS.map((provider) => {
          const account = status.accounts.find((one) => one.provider === provider)
          return (
            <li key={provider} class="along">
              <span class="along-main">
                {WHAT[provider]} {account && <Account account={account} />}
              </span>
              {mayChange && (
                <span class="section-actions">
                  <Button label={account ? 'Sign in again' : 'Sign in'} onClick={() => setFlow(provider)} />
                  {account && <Button label="Sign out" kind="danger" onClick={() => setLeaving(provider)} />}
                </span>
              )}
            </li>
          )
        })}
      </ul>
      {flow && <SignInDialog provider={flow} onClose={() => setFlow(null)} onChanged={onChanged} />}
      {leaving && (
        <Confirm
          title={`Sign out of ${WHAT[leaving]}?`}
          action="Sign out"
          danger
          onClose={() => setLeaving(null)}
          onConfirm={async () => {
            await client().call('signin.forget', { name: leaving })
            onChanged()
          }}
        />
      )}
    </div>
  )
}

function Account({ account }: { account: Status['accounts'][number] }) {
  const who = account.profile?.email ?? account.profile?.name ?? account.accountId
  return (
    <>
      <Badge tone="good">signed in</Badge>{' '}
      <span class="muted small">
        {who} · <Ago at={account.signedInAt} />
      </span>
    </>
  )
}

function SignInDialog({
  provider,
  onClose,
  onChanged,
}: {
  provider: Provider
  onClose(): void
  onChanged(): void
}) {
  const [events, setEvents] = useState<readonly FlowEvent[]>([])
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const flow = followFlow(provider, {
      told: (more) => setEvents((before) => [...before, ...more]),
      failed: (error) => setProblem(problemOf(error)),
      completed: onChanged,
    })
    return () => flow.cancel()
  }, [provider])
  const last = events.at(-1)
  return (
    <Dialog title={`Sign in to ${WHAT[provider]}`} onClose={onClose}>
      {problem === null ? <Step event={last} /> : <p class="problem">{problem}</p>}
      {last?.type === 'completed' && <Button kind="primary" label="Done" onClick={onClose} />}
    </Dialog>
  )
}

interface FlowListener {
  told(events: FlowEvent[]): void
  failed(error: unknown): void
  completed(): void
}

/** A code works from any browser, also from a phone; it is asked for unless the issuer has none. */
function followFlow(provider: Provider, listener: FlowListener): { cancel(): void } {
  let isOver = false
  let flowId: string | null = null

  async function follow(): Promise<void> {
    flowId = (await client().call('signin.start', { provider, headless: !isThisComputer() })).flowId
    for (let after = 0; !isOver;) {
      const { events, state } = await client().call('signin.flow', { flowId, after, waitMs: WAIT_MS })
      if (isOver) return
      if (events.length > 0) listener.told(events)
      after = events.at(-1)?.index ?? after
      if (state === 'completed') listener.completed()
      if (state !== 'running') return void (isOver = true)
    }
  }

  follow().catch((error: unknown) => !isOver && listener.failed(error))
  return {
    cancel() {
      if (isOver) return
      isOver = true
      if (flowId !== null)
        client()
          .call('signin.cancel', { flowId })
          .catch(() => {})
    },
  }
}

/** A browser elsewhere cannot take the answer that an issuer sends to this computer. */
function isThisComputer(): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(location.hostname)
}

function Step({ event }: { event: FlowEvent | undefined }) {
  if (!event || event.type === 'started') return <Spinner label="Beginning" />
  switch (event.type) {
    case 'url':
      return (
        <>
          <p>Sign in there, then come back here.</p>
          <Outside url={event.url} />
          <Spinner label="Waiting for you" />
        </>
      )
    case 'device_code':
      return (
        <>
          <p>Open the page and type this code:</p>
          <p class="along">
            <strong class="mono signin-code">{event.userCode}</strong>
            <Copy text={event.userCode} label="Copy the code" />
          </p>
          <Outside url={event.verificationUrl} />
          <Spinner label="Waiting for you" />
        </>
      )
    case 'completed':
      return <p role="status">Signed in{event.profile?.email ? ` as ${event.profile.email}` : ''}.</p>
    case 'failed':
      return (
        <p class="problem" role="alert">
          {event.cancelled ? 'Cancelled.' : event.message}
        </p>
      )
  }
}

function Outside({ url }: { url: string }) {
  if (!/^https?:\/\//.test(url)) return <code>{url}</code>
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      Open the sign-in page
    </a>
  )
}
