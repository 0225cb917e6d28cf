import { stat } from 'node:fs/promises'
import type { Finding, UpdateCheck } from '../ports.ts'

export interface Check {
  name: string
  status: 'ok' | 'warn' | 'error'
  message: string
  fix: string | null
}

/** The checks that this protocol names, in its order, from all that the doctor has found. */
export async function eightChecks(
  findings: readonly Finding[],
  { tokenFile, isAdvertised, update }: { tokenFile: string; isAdvertised: boolean; update: UpdateCheck },
): Promise<Check[]> {
  const from = (name: string, finding: string, absent: Check['status'] = 'ok'): Check => {
    const found = findings.find((one) => one.name === finding)
    if (!found) return { name, status: absent, message: 'nothing to look at', fix: null }
    const status = found.status === 'skipped' ? absent : found.status
    return { name, status, message: found.message, fix: found.fix }
  }
  const listener = findings.find(({ name }) => name === 'listener_clawde')
  return [
    from('data_dir', 'data_dir'),
    await tokenCheck(tokenFile),
    from('sqlite', 'sqlite'),
    from('port', 'listener_clawde', 'error'),
    from('provider_claude', 'agent_claude', 'warn'),
    mdnsCheck(isAdvertised, listener?.message ?? ''),
    from('disk_space', 'disk_space'),
    updateCheck(update),
  ]
}

async function tokenCheck(path: string): Promise<Check> {
  const name = 'auth_token'
  const found = await stat(path).catch(() => null)
  if (!found?.isFile()) {
    return { name, status: 'error', message: `${path} is not there`, fix: 'corral restart makes a new one' }
  }
  const rights = (found.mode & 0o777).toString(8).padStart(4, '0')
  if (process.platform === 'win32' || (found.mode & 0o077) === 0) {
    return { name, status: 'ok', message: `Token file readable (${rights})`, fix: null }
  }
  return { name, status: 'warn', message: `Others can read ${path} (${rights})`, fix: `chmod 600 ${path}` }
}

/** Nobody else can connect to a loopback address: there is nothing to announce. */
function mdnsCheck(isAdvertised: boolean, address: string): Check {
  const others = address.startsWith('wss:') ? 'devices need the address' : 'only this machine can connect'
  const message = isAdvertised ? '_clawd._tcp and _clawde._tcp advertised' : `not advertised: ${others}`
  return { name: 'mdns', status: 'ok', message, fix: null }
}

function updateCheck(update: UpdateCheck): Check {
  const isFine = update.state === 'current' || update.state === 'unconfigured'
  const fix = isFine
    ? null
    : update.state === 'failed'
      ? 'look at updates.feed'
      : 'daemon.applyUpdate fetches it'
  return { name: 'update', status: isFine ? 'ok' : 'warn', message: updateMessage(update), fix }
}

export function updateMessage(update: UpdateCheck): string {
  if ('message' in update) return update.message
  return update.state === 'available' ? `${update.latest} is there` : `${update.current} is the latest`
}
