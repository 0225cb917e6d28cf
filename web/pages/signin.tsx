import { useEffect, useState } from 'preact/hooks'
import { credentialIn, deviceName, typedCredential, type Credential } from '../client/credential.ts'
import { signIn, whoami } from '../client/pass.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Spinner } from '../parts/spinner.tsx'
import { routeOf } from '../route.ts'

const NAME = deviceName(navigator.userAgent)

/** What `corral open` or a QR code has put behind the address: it is used at once, and taken out of the address before. */
function takenFromAddress(): Credential | null {
  const credential = credentialIn(location.hash, NAME)
  if (credential) history.replaceState(null, '', location.pathname)
  return credential
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
  const [brought] = useState(takenFromAddress)
  const [isTrying, setTrying] = useState(brought !== null)

  async function attempt(credential: Credential): Promise<void> {
    setBusy(true)
    const wrong = await signIn(credential)
    if (wrong === null) return enter()
    setProblem(wrong)
    setBusy(false)
    setTrying(false)
  }

  /** Nobody is made somebody else by following a link. */
  async function attemptBrought(credential: Credential): Promise<void> {
    const isIn = await whoami().then(
      ({ signedIn }) => signedIn,
      () => false,
    )
    return isIn ? enter() : attempt(credential)
  }

  useEffect(() => {
    document.title = 'Sign in · Corral'
    if (brought) void attemptBrought(brought)
  }, [])

  return (
    <main class="signin">
      <div class="signin-card">
        <img src="/icons/mark.svg" alt="" />
        <h1>Sign in to Corral</h1>
        {isTrying ? (
          <Spinner label="Signing in" />
        ) : (
          <TokenForm problem={problem} busy={busy} attempt={(credential) => void attempt(credential)} />
        )}
        <div class="signin-how">
          <p>
            On the computer that runs Corral, <code>corral open</code> signs you in without typing anything.
          </p>
          <p>
            For a phone or another computer, <code>corral pair</code> there prints a PIN.{' '}
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
  attempt(credential: Credential): void
}) {
  const [token, setToken] = useState('')
  return (
    <form
      class="signin-form"
      onSubmit={(event) => {
        event.preventDefault()
        const credential = typedCredential(token, NAME)
        if (credential && !busy) attempt(credential)
      }}
    >
      <Field label="Token or PIN" error={problem}>
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
