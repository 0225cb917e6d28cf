import { join } from 'node:path'
import {
  daemonCommand,
  environmentOf,
  MARK,
  suffixOf,
  type Service,
  type ServiceFacts,
  type ServiceState,
} from './service.ts'

/** A launch agent of the user's. */
export function launchdService(facts: ServiceFacts): Service {
  const name = `dev.corral.daemon${suffixOf(facts)}`
  const domain = `gui/${facts.uid}`
  const path = join(facts.homedir, 'Library/LaunchAgents', `${name}.plist`)
  return {
    manager: 'launchd',
    name,
    path,
    text: plistText(name, facts),
    install: [
      ['launchctl', 'enable', `${domain}/${name}`],
      ['launchctl', 'bootstrap', domain, path],
    ],
    uninstall: [['launchctl', 'bootout', `${domain}/${name}`]],
    restart: ['launchctl', 'kickstart', '-k', `${domain}/${name}`],
    look: ['launchctl', 'print', `${domain}/${name}`],
    readState,
  }
}

function plistText(name: string, facts: ServiceFacts): string {
  const output = string(join(facts.home, 'corral.out'))
  const args = daemonCommand(facts).map((word) => `    ${string(word)}`)
  const environment = environmentOf(facts).map(
    ([key, value]) => `    <key>${escaped(key)}</key>${string(value)}`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>${string(name)}
  <key>ProgramArguments</key>
  <array>
${args.join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${environment.join('\n')}
  </dict>
  <key>WorkingDirectory</key>${string('/')}
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <!-- Agents are no part of the daemon's life: they work on while it is restarted or upgraded. -->
  <key>AbandonProcessGroup</key><true/>
  <key>ExitTimeOut</key><integer>30</integer>
  <key>StandardOutPath</key>${output}
  <key>StandardErrorPath</key>${output}
</dict>
</plist>
`
}

function string(text: string): string {
  return `<string>${escaped(text)}</string>`
}

function escaped(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x08\x0b\x0c\x0e-\x1f]/.test(text))
    throw new Error(`a property list cannot name ${JSON.stringify(text)}`)
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function readState(printed: string): ServiceState {
  const value = (name: string): string | undefined =>
    new RegExp(`^\\s*${name} = (.+)$`, 'm').exec(printed)?.[1]
  const state = value('state') ?? 'unknown'
  return {
    isRunning: state === 'running',
    isEnabled: null,
    pid: Number(value('pid') ?? 0) || null,
    words: state,
  }
}
