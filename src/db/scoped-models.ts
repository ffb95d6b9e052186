import { Prisma } from '../generated/prisma/client.ts'
import type { Connection } from './client.ts'
import { LIVE_ROWS_IN_TEST, type Scope, TENANT_TABLES, type TenantTable } from './tenant-tables.ts'

type Columns = Record<string, unknown>
type Args = { where?: Columns; data?: Columns | Columns[]; create?: Columns }
type Method = (args?: Args) => unknown
type Model = Record<string, Method>

/** Tenant tables by the names that their models have in Prisma Client: `invite`, `category`, `organizationSecurity`. */
const TABLES: ReadonlyMap<string | symbol, TenantTable> = new Map(
  Object.keys(Prisma.ModelName).flatMap((name) => {
    const model = name.charAt(0).toLowerCase() + name.slice(1)
    const table = [`${model}s`, `${model}es`, model.replace(/y$/, 'ies'), model].find((candidate) => candidate in TENANT_TABLES)
    return table ? [[model, table as TenantTable]] : []
  }),
)

/**
 * Prisma Client that throws where a call on a tenant table does not name its scope in `where` and in new rows: the organization and, for
 * tables that have live and test rows, the mode. It does not look into `include` and nested writes: compound foreign keys keep these in the
 * organization.
 */
export function scopedModels(connection: Connection, scope: Scope): Connection {
  const client = connection as unknown as Record<string | symbol, Model>
  const models = new Map<string | symbol, Model>()
  return new Proxy({} as Connection, {
    get(_, name) {
      const cached = models.get(name)
      if (cached) return cached
      const table = TABLES.get(name)
      if (!table) return client[name]
      const model = scopedModel(client[name]!, { name: String(name), table, scope })
      models.set(name, model)
      return model
    },
  })
}

type ScopedModel = { name: string; table: TenantTable; scope: Scope }

const scopedModel = (model: Model, scoped: ScopedModel): Model =>
  new Proxy({} as Model, {
    get(_, method: string) {
      const call = model[method]
      if (typeof call !== 'function') return call as unknown as Method
      return (args: Args = {}) => {
        if (!isScoped(scoped, method, args))
          throw new Error(`${scoped.name}.${method} is called without the scope of an organization`)
        return call(args)
      }
    },
  })

const READS = /^(?:find|count|aggregate|groupBy)/

function isScoped({ table, scope }: ScopedModel, method: string, { where, data, create }: Args): boolean {
  const readsBoth = scope.mode === 'test' && LIVE_ROWS_IN_TEST.has(table) && READS.test(method)
  const isLimited = TENANT_TABLES[table] === 'mode' && scope.mode !== 'all' && !readsBoth
  const names = (columns: Columns | undefined) =>
    namesColumn(columns, 'organizationId', scope.organization.id) && (!isLimited || namesColumn(columns, 'mode', scope.mode))
  if (method.startsWith('create')) return [data].flat().every(names)
  return names(where) && (method !== 'upsert' || names(create))
}

/** True for `{ column }`, a compound key such as `column_id: { column, id }`, and either of these in `AND`. */
function namesColumn(columns: Columns | undefined, column: string, value: string): boolean {
  if (!columns) return false
  if (columns[column] === value) return true
  for (const key in columns) {
    const inner = columns[key] as Columns | Columns[] | undefined
    if (key === 'AND' && [inner].flat().some((condition) => namesColumn(condition, column, value))) return true
    if (key.includes('_') && key.split('_').includes(column) && (inner as Columns | undefined)?.[column] === value) return true
  }
  return false
}
