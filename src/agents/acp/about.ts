import { type About, aboutTool, type ToolClass } from '../../core/about.ts'
import type { JsonObject } from '../json.ts'
import type { AcpProfile } from './profile.ts'
import { MAX_PARTS } from './fitting.ts'
import type { Call } from './state.ts'
import { MAX_PATHS, pathsIn, toolName } from './tool.ts'

/** What the protocol's kinds of tools are here; of the others the name tells. */
const CLASSES: Partial<Record<string, ToolClass>> = {
  execute: 'shell',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  read: 'read',
  search: 'search',
  fetch: 'fetch',
}

/** What a call is about. Files are those that the agent names anywhere: as places, as diffs, in the input. */
export function aboutCall(profile: AcpProfile, call: Call, input: JsonObject): About {
  const known = classOf(profile, call, input)
  const { subjects } = aboutTool(known, input)
  if (known !== 'edit' && known !== 'read') return { class: known, subjects }
  const named = profile.filesOf?.(input) ?? subjects
  const paths = [...new Set([...call.paths, ...pathsIn(call.content), ...named])]
  // Of very long lists the log has only the beginning.
  const cut = call.paths.length >= MAX_PATHS || call.content.length >= MAX_PARTS
  return { class: known, subjects: paths, ...(cut && { partly: true }) }
}

function classOf(profile: AcpProfile, call: Call, input: JsonObject): ToolClass {
  const named = aboutTool(toolName(profile, call), input).class
  if (named === 'mcp') return named
  const told = CLASSES[call.kind ?? ''] ?? named
  return looks(told) && aboutTool('shell', input).subjects.some(isLine) ? 'shell' : told
}

/** A command that is said to look only is a command all the same; but some tools call it that what they do (`view`). */
function looks(told: ToolClass): boolean {
  return told === 'read' || told === 'search' || told === 'fetch'
}

const isLine = (command: string): boolean => /\s/.test(command.trim())
