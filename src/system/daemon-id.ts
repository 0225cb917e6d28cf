import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * The same for this machine and data directory at every start. The machine's own id is a secret of sorts (whoever has it
 * can tell that two services are on one machine), so only a hash with a word of ours leaves this function.
 */
export function daemonIdOf(machine: string, home: string): string {
  return createHash('sha256').update(['corral', machine, home].join('\0')).digest('hex')
}

export async function readDaemonId(home: string): Promise<string> {
  return daemonIdOf(await machineId(), home)
}

async function machineId(): Promise<string> {
  const texts = ['/etc/machine-id', '/var/lib/dbus/machine-id'].map((path) => readFile(path, 'utf8'))
  for (const found of await Promise.allSettled([...texts, platformUuid()])) {
    if (found.status === 'fulfilled' && found.value.trim() !== '') return found.value.trim()
  }
  return hostname() // not as lasting, but all there is
}

async function platformUuid(): Promise<string> {
  if (process.platform !== 'darwin') return ''
  const { stdout } = await run('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'])
  return /"IOPlatformUUID" = "([^"]+)"/.exec(stdout)?.[1] ?? ''
}
