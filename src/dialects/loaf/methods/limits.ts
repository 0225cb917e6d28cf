import type { LimitWindow } from '../../../core/limits.ts'
import { failure } from '../errors.ts'
import type { Context } from '../method.ts'
import { AGENT_OF } from '../models.ts'
import type { AgentView, SignedIn } from '../ports.ts'
import type { AccountLimits, Limits, Window } from '../wire.ts'

type Accounts = Pick<SignedIn, 'openai' | 'antigravity' | 'anthropic'>

export async function limits({ choices, corral }: Context): Promise<Limits> {
  return limitsOf(await choices.accounts(), await corral.agents())
}

/** What agents have told last about their accounts; null where nobody is signed in. `anthropic` is not in the original. */
export function limitsOf({ openai, antigravity, anthropic }: Accounts, agents: readonly AgentView[]): Limits {
  if (!openai && !antigravity && !anthropic) {
    throw failure('limits requires at least one oauth provider', 'not_signed_in')
  }
  const of = (provider: 'openai' | 'anthropic'): AgentView['limits'] =>
    agents.find(({ name }) => name === AGENT_OF[provider])?.limits ?? null
  const untold = 'Gemini CLI does not tell what is left of an account'
  return {
    openai: openai ? toldBy('Codex', of('openai')) : null,
    antigravity: antigravity ? { ok: false, message: untold } : null,
    ...(anthropic && { anthropic: toldBy('Claude', of('anthropic')) }),
  }
}

function toldBy(agent: string, known: AgentView['limits']): AccountLimits {
  if (!known) {
    const message = `${agent} has not told yet what is left; it does with its answers, for accounts that have limits`
    return { ok: false, message }
  }
  const named = (...names: string[]): LimitWindow | undefined =>
    known.windows.find(({ name }) => names.includes(name))
  // Where neither is known, there may be one of a single model.
  const primary = named('primary', 'five_hour')
  const secondary = named('secondary', 'seven_day') ?? known.windows.find((window) => window !== primary)
  if (!primary && !secondary) {
    const when = new Date(known.at).toISOString()
    return { ok: false, message: `${agent} told last at ${when}, and all has begun anew since` }
  }
  const planType = known.plan ?? null
  return { ok: true, snapshot: { planType, primary: windowOf(primary), secondary: windowOf(secondary) } }
}

function windowOf(window: LimitWindow | undefined): Window | null {
  if (!window) return null
  const { usedPercent, lengthMs, resetsAt } = window
  return {
    usedPercent,
    remainingPercent: 100 - usedPercent,
    limitWindowSeconds: lengthMs === null ? null : lengthMs / 1000,
    resetAtEpochSeconds: resetsAt === null ? null : Math.round(resetsAt / 1000),
  }
}
