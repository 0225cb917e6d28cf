import { useEffect, useState } from 'preact/hooks'
import { signIn, type Credential } from '../client/pass.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Spinner } from '../parts/spinner.tsx'
import { routeOf } from '../route.ts'

/** A code that `corral open` has put behind the address: it is used at once, and taken out of the address before. */
function codeInAddress(): string | null {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1] ?? null
  if (code !== null) history.replaceState(null, '', location.pathname)
  return code
}

/** Everything begins anew for whoever has come in. */
function enter(): void {
  const isHere = routeOf(location.pathname).page === 'signin'
  if (isHere) location.replace('/')
  else location.reload()
}

export function SignInPage() {
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [code] = useState(codeInAddress)
  const [isTryingCode, setTryingCode] = useState(code !== null)

  async function attempt(credential: Credential): Promise<void> {
    setBusy(true)
    const wrong = await signIn(credential)
    if (wrong === null) return enter()
    setProblem(wrong)
    setBusy(false)
    setTryingCode(false)
  }

  useEffect(() => {
    document.title = 'Sign in · Corral'
    if (code !== null) void attempt({ code })
  }, [])

  return (
    <main class="signin">
      <div class="signin-card">
        <img src="/icons/mark.svg" alt="" />
        <h1>Sign in to Corral</h1>
        {isTryingCode ? (
          <Spinner label="Signing in" />
        ) : (
          <TokenForm problem={problem} busy={busy} attempt={(token) => void attempt({ token })} />
        )}
        <div class="signin-how">
          <p>
            On the computer that runs Corral, <code>corral open</code> signs you in without typing anything.
          </p>
          <p>
            <code>corral token show</code> prints the token.
          </p>
        </div>
      </div>
    </main>
  )
}

function TokenForm({
  problem,
  busy,
  attempt,
}: {
  problem: string | null
  busy: boolean
  attempt(token: string): void
}) {
  const [token, setToken] = useState('')
  return (
    <form
      class="signin-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (token.trim() !== '' && !busy) attempt(token.trim())
      }}
    >
      <Field label="Token" error={problem}>
        {(control) => (
          <input
            {...control}
            class="input mono"
            type="password"
            name="token"
            autocomplete="current-password"
            autocapitalize="off"
            spellcheck={false}
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" kind="primary" label="Sign in" busy={busy} />
    </form>
  )
}
