import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { MIGRATIONS_FOLDER, readMigrations } from '../src/db/migrations.ts'

/** Node has it; its types come with the browser's library only. */
declare const WebAssembly: {
  instantiate: (bytes: Uint8Array, imports: object) => Promise<{ instance: { exports: Record<string, unknown> } }>
}

/** The SQL that a difference needs when there is none: Prisma's own words for it. */
export const EMPTY_MIGRATION = '-- This is an empty migration.'

const prismaFolder = import.meta.dirname

/**
 * The SQL that takes a database with all of `prisma/migrations` applied to the state `schema.prisma` describes, by Prisma's own
 * schema engine. Its native build is a download; this is its WebAssembly build, with PGlite as the shadow database.
 */
export async function diffMigrationsToSchema(): Promise<string> {
  const schemaPath = path.join(prismaFolder, 'schema.prisma')
  const schema = await readFile(schemaPath, 'utf8')
  const engine = await loadSchemaEngine(new PGliteFactory())
  const { stdout } = await engine.diff({
    from: { tag: 'migrations', ...(await listMigrations()) },
    to: { tag: 'schemaDatamodel', files: [{ path: schemaPath, content: schema }] },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  })
  return stdout?.trim() ?? EMPTY_MIGRATION
}

type AdapterFactory = Parameters<typeof bindMigrationAwareSqlAdapterFactory>[0]

/**
 * Prisma's schema engine on the databases that the factory connects to. The package is made for bundlers: the WebAssembly module has to
 * be joined to its glue by hand.
 */
export async function loadSchemaEngine(factory: AdapterFactory) {
  glue ??= loadGlue()
  return (await glue).SchemaEngine.new({ datamodels: undefined }, () => {}, bindMigrationAwareSqlAdapterFactory(factory))
}

/** One for the process: another module joined to the same glue would be called back with what belongs to the first, and never answer. */
let glue: ReturnType<typeof loadGlue> | undefined

async function loadGlue() {
  const folder = path.dirname(createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm'))
  const made = await import(path.join(folder, 'schema_engine_bg.js'))
  const wasm = await readFile(path.join(folder, 'schema_engine_bg.wasm'))
  const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': made })
  made.__wbg_set_wasm(instance.exports)
  ;(instance.exports.__wbindgen_start as () => void)()
  return made
}

class PGliteFactory {
  provider = 'postgres' as const
  adapterName = 'pglite'
  async connect() {
    return new PrismaPGlite(await PGlite.create()).connect()
  }
  async connectToShadowDb() {
    return this.connect()
  }
}

/** The migrations as the engine takes them. */
export async function listMigrations() {
  const migrationDirectories = (await readMigrations()).map(({ name, sql }) => ({
    path: name,
    migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: sql } },
  }))
  const lockfile = await readFile(path.join(MIGRATIONS_FOLDER, 'migration_lock.toml'), 'utf8')
  return {
    baseDir: MIGRATIONS_FOLDER,
    lockfile: { path: 'migration_lock.toml', content: lockfile },
    shadowDbInitScript: '',
    migrationDirectories,
  }
}
