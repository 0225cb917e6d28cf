import { useEffect, useState } from 'preact/hooks'
import type { Api } from '../../client/client.ts'
import { client } from '../../state/connection.ts'
import { countdown, spacedPin, svgImage } from '../../state/pairing.ts'
import { Button } from '../button.tsx'
import { Segments, Switch, type Option } from '../choice.tsx'
import { Copy, Command } from '../command.tsx'
import { Dialog } from '../dialog.tsx'
import { Failed } from '../failed.tsx'
import { Spinner } from '../spinner.tsx'
import { problemOf } from '../use-call.ts'
import { useEvents } from '../use-events.ts'

type Pin = Api['device.pin']['result']
type Way = 'browser' | 'clawde'

const WAYS: readonly Option<Way>[] = [
  { value: 'browser', label: 'A browser' },
  { value: 'clawde', label: 'ClawDE’s app' },
]

const TICK_MS = 1000
const ARRIVALS = ['device.paired'] as const

/** Makes a PIN and shows it, also as a QR code, until a device has come in with it. */
export function PairDialog({ onClose }: { onClose(): void }) {
  const [manage, setManage] = useState(false)
  const [pin, setPin] = useState<Pin | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [guest, setGuest] = useState<string | null>(null)

  async function make(): Promise<void> {
    setProblem(null)
    try {
      const scopes: ('use' | 'manage')[] = manage ? ['use', 'manage'] : ['use']
      setPin(await client().call('device.pin', { scopes, svg: true }))
    } catch (error) {
      setProblem(problemOf(error))
    }
  }
  useEffect(() => void make(), [manage])
  useEvents({ types: ARRIVALS }, (event) => {
    if (event.type === 'device.paired') setGuest(event.name)
  })
  if (guest !== null) return <Welcome name={guest} onClose={onClose} />
  return (
    <Dialog title="Let a device in" onClose={onClose}>
      <Switch
        label="It may manage"
        hint="Let devices in, set rules, change the relay, stop the daemon. Without it, the device may use sessions."
        checked={manage}
        onChange={setManage}
      />
      {problem !== null && <Failed what="There is no PIN" problem={problem} onRetry={() => void make()} />}
      {pin ? (
        <Invitation pin={pin} onAgain={() => void make()} />
      ) : (
        problem === null && <Spinner label="Making a PIN" />
      )}
    </Dialog>
  )
}

function Welcome({ name, onClose }: { name: string; onClose(): void }) {
  return (
    <Dialog
      title="A device has come in"
      onClose={onClose}
      actions={<Button kind="primary" label="Done" onClick={onClose} />}
    >
      <p role="status">
        <strong>{name}</strong> may connect now.
      </p>
    </Dialog>
  )
}

function Invitation({ pin, onAgain }: { pin: Pin; onAgain(): void }) {
  const [way, setWay] = useState<Way>('browser')
  const left = useTimeLeft(pin.expiresAt)
  if (left <= 0) {
    return (
      <div class="pair-over">
        <p>This PIN is too old.</p>
        <Button kind="primary" label="Make a new one" onClick={onAgain} />
      </div>
    )
  }
  const both = pin.page !== null && pin.url !== null
  const shown = both ? way : pin.page === null ? 'clawde' : 'browser'
  const address = shown === 'browser' ? pin.page : pin.url
  const picture = shown === 'browser' ? pin.pageSvg : pin.svg
  return (
    <div class="pair">
      {both && <Segments label="What is to connect" options={WAYS} value={way} onChange={setWay} />}
      {picture !== undefined && (
        <img
          class="pair-qr"
          src={svgImage(picture)}
          alt="QR code with the address and the PIN"
          width="220"
          height="220"
        />
      )}
      <p class="pair-pin mono" aria-label={`PIN ${pin.pin.split('').join(' ')}`}>
        {spacedPin(pin.pin)}
      </p>
      <p class="muted small">For one device, for another {countdown(left)}.</p>
      {address !== null && <Address address={address} />}
      {!pin.reachable && <OnlyHere />}
    </div>
  )
}

function Address({ address }: { address: string }) {
  return (
    <p class="pair-address small">
      <code>{address}</code>
      <Copy text={address} label="Copy the address" />
    </p>
  )
}

function OnlyHere() {
  return (
    <div class="pair-note small">
      <p>
        Only this computer reaches that address. For a phone, set <code>http.bind</code> to an address of this
        computer (or to <code>0.0.0.0</code>) in <code>config.yaml</code>, then run
      </p>
      <Command text="corral restart" />
    </div>
  )
}

function useTimeLeft(end: number): number {
  const [left, setLeft] = useState(end - Date.now())
  useEffect(() => {
    setLeft(end - Date.now())
    const timer = setInterval(() => setLeft(end - Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [end])
  return left
}
