import { CONTEXT_NAMES, helpOf, isMac } from '../state/keys.ts'
import { Dialog } from './dialog.tsx'

/** Every key, by where it works. */
export function KeyHelp({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <KeyTable />
    </Dialog>
  )
}

export function KeyTable() {
  return (
    <div class="key-help">
      {helpOf().map(({ context, lines }) => (
        <section key={context}>
          <h3>{CONTEXT_NAMES[context]}</h3>
          <dl>
            {lines.map(({ keys, what }) => (
              <div key={what} class="key-line">
                <dt>
                  {keys.map((key) => (
                    <KeyName key={key} name={key} />
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  Escape: 'Esc',
}

function KeyName({ name }: { name: string }) {
  const shown = name.split(' ').map((one) => one.replace('Mod+', isMac() ? '⌘' : 'Ctrl+'))
  return (
    <span class="key-name">
      {shown.map((one) => (
        <kbd key={one}>{NAMES[one] ?? one}</kbd>
      ))}
    </span>
  )
}
