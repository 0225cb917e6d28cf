import { aboutOf, classNamed, type About } from './about.ts'
import { isHost, lets, plainAddress } from './address.ts'
import type { Approval, Decision } from './approval.ts'
import { CorralError } from './error.ts'
import {
  couldFit,
  endings,
  exactly,
  fits,
  hasStar,
  HOLE,
  inPieces,
  isRule,
  mentions,
  parseRule,
  piecesOf,
  type Rule,
  wordsOf,
} from './pattern.ts'
import { hasDetour, straight, within } from './path.ts'
import { setsNames } from './shell/programs.ts'
import { runsOf, type Runs } from './shell/runs.ts'
import { readScript } from './shell/script.ts'

/**
 * What people have decided once and for all. A rule names a class of tools, or a tool with `*` for any run of characters,
 * and may ask for a pattern in what the call is about: `edit`, `mcp__files__*`, `shell(git *)`, `edit(/tmp/*)`.
 * docs/rules.md says what it means.
 */
export interface Rules {
  allow: string[]
  deny: string[]
  /** Edits of files pass. */
  acceptEdits: boolean
  /** Everything passes until this time; null: not at all. */
  skipUntil: number | null
}

/** The last moment that a date can name: how `skipUntil` says for ever. */
export const FOR_EVER = 8_640_000_000_000_000

export const NO_RULES: Rules = Object.freeze({ allow: [], deny: [], acceptEdits: false, skipUntil: null })

/** Refuses what is no rule; what is there already may stay, or go. */
export function mustBeRules(given: Partial<Rules> | undefined, before: Rules): void {
  const known = new Set([...before.allow, ...before.deny])
  const wrong = [...(given?.allow ?? []), ...(given?.deny ?? [])].find(
    (rule) => !known.has(rule) && !isRule(rule),
  )
  if (wrong === undefined) return
  const text = `${wrong} is not a rule: write a tool or a class, and a pattern between parentheses, as in shell(npm test*)`
  throw new CorralError('invalid', text, { field: 'rules' })
}

/** Where an agent works, as far as rules go. */
export interface Site {
  cwd: string
  /** `cwd` is a worktree of this checkout: what is said of a file there holds for the same file here. */
  worktreeOf?: string
}

/** Where and when a question is asked. */
export interface RuleContext extends Site {
  now: number
}

/** What the rules say about a request; null when they say nothing. A denial wins over everything that allows. */
export function ruleDecision(
  rules: readonly Rules[],
  approval: Approval,
  context: RuleContext,
): Decision | null {
  const skips = rules.some(({ skipUntil }) => skipUntil !== null && skipUntil > context.now)
  if (approval.kind === 'plan' && skips) return { behavior: 'allow' }
  if (approval.kind !== 'tool') return null
  const call = callOf(approval, context)
  const denial = rules.flatMap(({ deny }) => deny).map((rule) => denialBy(parseRule(rule), call, rule))
  const comment = denial.find((reason) => reason !== null)
  if (comment) return { behavior: 'deny', comment }
  const edits = approval.edits && rules.some(({ acceptEdits }) => acceptEdits)
  const passes = skips || edits || allowed(rules.flatMap(({ allow }) => allow).map(parseRule), call)
  return passes ? { behavior: 'allow' } : null
}

/**
 * The rules that let the same thing, and nothing else, pass the next time; of edits, all in the session's directory. They name what
 * is in a worktree as it is there, or with `forOrigin` as it is in the checkout that the worktree was made from.
 */
export function rulesFor(approval: Approval, site: Site, forOrigin = false): string[] {
  const call = callOf(approval, site)
  const { cwd, worktreeOf = cwd } = site
  const place = straight(forOrigin ? worktreeOf : cwd)
  const own = classNamed(call.tool) === call.class || call.class === 'mcp' || call.class === 'other'
  const name = own ? call.tool : call.class
  if (call.partly || (call.subjects.length === 0 && !/^(?:mcp|other)$/.test(call.class))) return []
  if (call.subjects.length === 0) return [name]
  const texts = call.class === 'shell' ? call.subjects : textsOf(call).map(([text]) => text!)
  const rules = texts.map((text) => {
    const inside = call.class === 'shell' ? null : within(text, cwd)
    if (inside === null) return `${name}(${exactly(text)})`
    return `${name}(${approval.edits ? exactly(below(place, '')) + '*' : exactly(below(place, inside))})`
  })
  return [...new Set(rules)]
}

/** A question as rules see it. */
interface CheckedCall extends About {
  tool: string
  site: Site
  /** Commands with one space between their words. */
  lines: () => string[]
  /** Looked at only when a rule wants to know. */
  runs: () => Runs[]
}

function callOf(approval: Approval, site: Site): CheckedCall {
  const about = aboutOf(approval)
  let runs: Runs[] | undefined
  let lines: string[] | undefined
  return {
    ...about,
    tool: approval.tool,
    site,
    lines: () => (lines ??= about.subjects.map((line) => line.trim().replaceAll(/\s+/g, ' '))),
    runs: () => (runs ??= about.subjects.map(runsOf)),
  }
}

/** What is `mcp__server__tool` elsewhere is `mcp_server_tool` for Gemini CLI and `server_tool` for OpenCode. */
function couldName(name: string, { tool, class: kind }: CheckedCall): boolean {
  if (fits(name, tool)) return true
  const flat = name.replaceAll('__', '_')
  return kind === 'mcp' && name !== flat && (fits(flat, tool) || fits(flat.replace(/^mcp_/, ''), tool))
}

/** Why a rule refuses this call; null when it does not. */
function denialBy({ name, pattern }: Rule, call: CheckedCall, rule: string): string | null {
  if (!couldName(name, call) && classNamed(name) !== call.class) return null
  const refused = `Not allowed here (rule ${rule}).`
  if (pattern === null) return refused
  if (call.subjects.length === 0 || call.partly)
    return `Not allowed here (rule ${rule} may apply: the request does not say all that it is about).`
  if (call.class === 'shell') return deniedCommand(pattern, call, rule)
  const named = textsOf(call)
    .flat()
    .flatMap((text) => [text, plainAddress(text) ?? text])
  const wanted = piecesOf(fromHere(pattern, call).replace(/^~(?=\/)/, '*'))
  return named.some((text) => couldFit(wanted, text)) ? refused : null
}

function deniedCommand(pattern: string, call: CheckedCall, rule: string): string | null {
  const refused = `Not allowed here (rule ${rule}).`
  const patterns = inPlace(pattern, call.site).flatMap(endings).map(piecesOf)
  const does = (text: string): boolean => patterns.some((one) => couldFit(one, text))
  if (call.lines().some(does) || call.runs().some(({ commands }) => commands.some(does))) return refused
  const namesPlace = /^(?:\*|[^ ]*\/)/.test(pattern)
  if (namesPlace && call.runs().some(({ placed }) => placed.some(does))) return refused
  const words = wordsOf(pattern)
  if (call.runs().some(({ foreign }) => foreign.some((text) => mentions(words, text)))) return refused
  if (call.runs().every(({ clear }) => clear)) return null
  return `Not allowed here (rule ${rule} may apply: it cannot be seen what the command runs; write it out).`
}

/** What passes by rules alone. Every subject must, by whichever rule. */
function allowed(rules: readonly Rule[], call: CheckedCall): boolean {
  // A tool may call itself anything: a name that means a class means what the call is about.
  const fitting = rules.filter(({ name }) => {
    const named = classNamed(name)
    return named === null ? fits(name, call.tool) : named === call.class
  })
  if (fitting.some(({ pattern }) => pattern === null || pattern === '*')) return true
  if (call.subjects.length === 0 || call.partly) return false
  const patterns = fitting.flatMap(({ pattern }) => pattern ?? [])
  if (patterns.length === 0) return false
  if (call.class === 'shell') return call.subjects.every((line) => allowedCommand(patterns, line))
  return textsOf(call).every((texts) =>
    patterns.some((one) => texts.some((text) => lets(fromHere(one, call), text))),
  )
}

/** Letter by letter; or each of its commands by a rule, if all of it is understood and nothing is written. */
function allowedCommand(patterns: readonly string[], line: string): boolean {
  if (patterns.some((pattern) => !hasStar(pattern) && fits(pattern, line))) return true
  const { commands, clear, plain } = readScript(line)
  if (!clear || !plain || commands.length === 0) return false
  // After `export PATH=…` another program may have the name.
  if (commands.length > 1 && commands.some(({ words }) => setsNames(words))) return false
  const wanted = patterns.flatMap(endings).map(piecesOf)
  return commands.every(({ plain: bare, source }) => bare && wanted.some((one) => inPieces(one, source)))
}

/** `~`, `~bob`. */
const HOME = /^~[\w.-]*(?=\/)|^~$/

/** A program below the session's directory: `./deploy.sh` is `/srv/app/deploy.sh`. */
function inPlace(pattern: string, { cwd, worktreeOf = cwd }: Site): string[] {
  const roots = [cwd, worktreeOf].map((root) => exactly(below(straight(root), '')))
  const inside = pattern.startsWith('./') ? pattern.slice(2) : null
  const from = inside === null ? roots.find((root) => pattern.startsWith(root)) : undefined
  const rest = inside ?? (from === undefined ? null : pattern.slice(from.length))
  return rest === null ? [pattern] : [pattern, `./${rest}`, ...roots.map((root) => root + rest)]
}

/** `./src/*` is `src/*`, `../x` lies beside the session's directory, and `//etc` is how Claude Code writes `/etc`. */
function fromHere(pattern: string, { class: kind, site }: CheckedCall): string {
  const places = kind === 'edit' || kind === 'read'
  const plain = (places ? pattern.replaceAll(/\/(?:\.?\/)+/g, '/') : pattern).replace(/^(?:\.\/)+/, '')
  return places && plain.startsWith('../') ? straight(`${exactly(site.cwd)}/${plain}`) : plain
}

function below(directory: string, path: string): string {
  return `${directory === '/' ? '' : directory}/${path}`
}

/**
 * Each subject in the ways in which a rule may name it: a path in full, as seen from the session's directory, and as the same file is
 * called where a worktree was made from.
 */
function textsOf({ class: kind, subjects, site }: CheckedCall): string[][] {
  const { cwd, worktreeOf } = site
  if (kind === 'fetch')
    return subjects.map((text) => (isHost(text) ? [text, `${text}/`, `${text}/${HOLE}`] : [text]))
  return subjects.map((text) => {
    // Whose home that is, and whether the agent goes there or to a directory of that name, it does not say.
    if (HOME.test(text)) return [text, text.replace(HOME, HOLE)]
    const path = straight(text.startsWith('/') ? text : `${cwd}/${text}`)
    const named = kind === 'edit' || kind === 'read' || hasDetour(text) ? [] : [text]
    const inside = within(path, cwd)
    const original = worktreeOf !== undefined && inside !== null ? [below(straight(worktreeOf), inside)] : []
    return [...named, path, inside ?? path, ...original]
  })
}
