import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import { MIGRATIONS_FOLDER, readMigrations } from '../src/db/migrations.ts'

/** Node provides WebAssembly, but its types come with the DOM library only. */
declare const WebAssembly: {
  instantiate: (bytes: Uint8Array, imports: object) => Promise<{ instance: { exports: Record<string, unknown> } }>
}

/** Prisma's output if there is no difference. */
export const EMPTY_MIGRATION = '-- This is an empty migration.'

const prismaFolder = import.meta.dirname

/**
 * Computes the SQL that migrates a database from the last of `prisma/migrations` to `schema.prisma`. Uses the WebAssembly build of Prisma's
 * schema engine, because the native build would be a download, and PGlite as the shadow database.
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

/** Loads Prisma's schema engine. The package is made for bundlers, so its WebAssembly module is linked by hand. */
export async function loadSchemaEngine(factory: AdapterFactory) {
  engineModule ??= loadEngineModule()
  return (await engineModule).SchemaEngine.new({ datamodels: undefined }, () => {}, bindMigrationAwareSqlAdapterFactory(factory))
}

/** Loaded once per process: a second WebAssembly module linked to the same JavaScript would never answer. */
let engineModule: ReturnType<typeof loadEngineModule> | undefined

async function loadEngineModule() {
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

/** The migrations in the engine's format. */
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
