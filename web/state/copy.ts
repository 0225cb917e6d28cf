import { toast } from '../parts/toast.tsx'

/** Puts a text on the clipboard, and says so. Pages without TLS have none. */
export function copyText(text: string): void {
  const { clipboard } = navigator as { clipboard?: Clipboard }
  const copied = clipboard ? clipboard.writeText(text) : Promise.reject(new Error('no clipboard'))
  copied.then(
    () => toast('Copied'),
    () => toast(`This browser does not let the page copy: ${text}`, { tone: 'bad' }),
  )
}
