import { classesFitting, classNamed, TOOL_CLASSES, type ToolClass, type Unasked } from './about.ts'
import { endings, fits, hasStar, parseRule } from './pattern.ts'
import type { Rules } from './rule.ts'

/** Something that people should know about a rule of theirs. */
export interface RuleWarning {
  rule: string
  message: string
}

/** An agent that the rules would have to hold for. */
interface RuledAgent {
  title: string
  unasked: Unasked
}

/** Rules that cannot do what whoever wrote them believes. */
export function adviceOn(
  { allow = [], deny = [] }: Partial<Rules>,
  agents: readonly RuledAgent[],
): RuleWarning[] {
  const about = (rule: string, messages: string[]): RuleWarning[] =>
    messages.map((message) => ({ rule, message }))
  return [
    ...allow.flatMap((rule) => about(rule, [...nameAdvice(rule), ...lineAdvice(rule), ...placeAdvice(rule)])),
    ...deny.flatMap((rule) =>
      about(rule, [
        ...nameAdvice(rule),
        ...placeAdvice(rule),
        ...quoteAdvice(rule),
        ...silences(rule, agents),
      ]),
    ),
  ]
}

function nameAdvice(rule: string): string[] {
  const { name, pattern } = parseRule(rule)
  if (classNamed(name) !== null || name.startsWith('mcp__')) return []
  // What was forgotten is the class: `git push*`, `*/.env`.
  if (pattern === null && /[\s/]|^\*?\./.test(name))
    return [`names no tool: write shell(${name}) for a command, edit(${name}) for a file`]
  if (hasStar(name)) return []
  return [`fits only a tool that is called exactly ${name}; classes of tools are ${TOOL_CLASSES.join(', ')}`]
}

/** A permission is for one command. */
function lineAdvice(rule: string): string[] {
  const { name, pattern } = parseRule(rule)
  if (classNamed(name) !== 'shell' || pattern === null || !hasStar(pattern) || !/[;&|<>\n]/.test(pattern))
    return []
  return ['never fits: a star stands for a part of one command; make a rule for each command of the line']
}

/** Paths are compared without a slash at their end. */
function placeAdvice(rule: string): string[] {
  const { name, pattern } = parseRule(rule)
  if (!/^(?:edit|read)$/.test(classNamed(name) ?? '') || !/[^/]\/$/.test(pattern ?? '')) return []
  return [`never fits: no path ends with a slash; for all that is in there write ${name}(${pattern}*)`]
}

/** Commands and paths are compared as they are without their quotes. */
function quoteAdvice(rule: string): string[] {
  const { name, pattern } = parseRule(rule)
  if (classNamed(name) === null || !/^(["'])[^]*\1$/.test(pattern ?? '')) return []
  return ['never fits: the quotes belong to the pattern; leave them out']
}

/** Nobody is asked about it, so nobody can say no. */
function silences(rule: string, agents: readonly RuledAgent[]): string[] {
  const { name, pattern } = parseRule(rule)
  return agents.flatMap(({ title, unasked }) =>
    classesMeant(name).flatMap((meantClass) => {
      const silence = unasked[meantClass]
      if (!silence) return []
      const { what, all, such } = silence
      const meant =
        pattern === null || !such || such.some((one) => endings(pattern).some((end) => fits(end, one)))
      if (!all && !meant) return []
      return [`${title} does not ask about ${what}${all ? '' : ': these are not refused'}`]
    }),
  )
}

/** `*` is every tool, and `Read*` some. */
function classesMeant(name: string): ToolClass[] {
  const known = classNamed(name) ?? (name.startsWith('mcp__') ? 'mcp' : null)
  if (known !== null) return [known]
  return hasStar(name) ? classesFitting((alias) => fits(name.toLowerCase(), alias)) : []
}
