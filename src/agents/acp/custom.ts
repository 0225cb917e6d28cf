import type { Mode } from '../../core/mode.ts'
import { detectCommand } from './detect.ts'
import type { AcpProfile } from './profile.ts'

/** An agent of the user's own, as the configuration tells it. */
export interface CustomAgent {
  command: string
  args?: string[]
  env?: Record<string, string>
  title?: string
  /** The agent's name for each of our modes, where it is not one of the usual. */
  modes?: Partial<Record<Mode, string>>
}

const MODES: Readonly<Record<Mode, readonly string[]>> = {
  auto: ['default', 'ask', 'build', 'code'],
  code: ['acceptEdits', 'autoEdit', 'auto-edit', 'default', 'build', 'code'],
  plan: ['plan', 'read-only', 'architect'],
  ask: ['default', 'ask', 'build', 'code'],
}

export function custom(name: string, agent: CustomAgent): AcpProfile {
  const title = agent.title ?? name
  const modes = Object.entries(agent.modes ?? {}).map(([mode, id]) => [mode, [id]])
  return {
    name,
    title,
    capabilities: {
      streaming: true,
      thinking: true,
      approvals: true,
      images: true,
      documents: false,
      resume: true,
      relocate: true,
      fork: true,
      cost: true,
      setModel: true,
      effort: true,
      setMode: true,
      // What it lets Corral do for it (files, commands) is not taken up by the next daemon.
      pause: true,
      survivesRestart: false,
      clientTools: false,
      bare: false,
      compact: false,
    },
    unasked: {
      shell: { what: 'what it runs by itself instead of leaving it to Corral' },
      edit: { what: 'what it writes by itself instead of leaving it to Corral' },
      read: { all: true, what: 'files' },
    },
    detect: (env) => detectCommand({ name, title, command: agent.command }, env),
    launch: () => ({ args: agent.args ?? [], env: agent.env ?? {} }),
    modes: { ...MODES, ...(Object.fromEntries(modes) as Partial<typeof MODES>) },
    offers: { files: true, terminals: true },
    signIn: `sign in to ${title} in a terminal first`,
  }
}
