import { QUIET, type CommandSpec, type NounSpec } from './spec.ts'

const machines = () => import('../commands/machines.ts')

export const MACHINE_NOUNS: readonly NounSpec[] = [
  {
    name: 'machine',
    plural: 'machines',
    group: 'Daemon',
    summary: 'List, add or remove other machines with sessions of yours',
    bare: { args: '', options: QUIET, load: async () => (await machines()).list },
  },
]

export const MACHINE_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'machine ls',
    args: '',
    summary: 'List the other machines, and whether they are there',
    use: 'Use it to see who is there. For a machine that does not answer it says why.',
    examples: ['corral machine ls'],
    options: QUIET,
    load: async () => (await machines()).list,
  },
  {
    name: 'machine add',
    args: '<target>',
    summary: 'Add a machine, so that its sessions appear among yours',
    use: 'Use it once for each machine. The target is a host as your ssh takes it, where Corral runs already; or the path of the socket of another daemon on this machine. Your ssh settings, keys and known hosts are used as they are.',
    examples: ['corral machine add me@desk', 'corral machine add me@10.0.0.7 --name gpu'],
    options: [['--name <name>', 'what to call it (the name of the host)']],
    load: async () => (await machines()).add,
  },
  {
    name: 'machine rm',
    args: '<machine>',
    summary: 'Remove a machine from the list',
    use: 'Use it when you do not want to see its sessions here any more. On the machine itself nothing changes.',
    examples: ['corral machine rm desk'],
    load: async () => (await machines()).remove,
  },
]
