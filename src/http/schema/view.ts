import { type ObjectOptions, type Static, type TObject, type TOptional, type TSchema, Type } from '@sinclair/typebox'
import {
  type FullProjection,
  type Projection,
  pickColumns,
  type Tables,
  type Time,
  type WithTimes,
} from '../../domain/lists/listing.ts'
import { isoTimeOrNull } from './field-types.ts'

/** A field that differs from the column of its name: its schema, its columns, and the function that computes it. */
type ComputedField<S extends TSchema, Column extends string> = {
  schema: S
  columns: readonly Column[]
  read: (row: never) => Static<S>
}
type FieldDeclarations = Record<string, TSchema | ComputedField<TSchema, string>>

/** `created_at` is the column createdAt. */
type ColumnName<Name> = Name extends `${infer Start}_${infer Rest}` ? `${Start}${Capitalize<ColumnName<Rest> & string>}` : Name
const toColumnName = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

/** Dates become ISO 8601 strings. */
type Serialized<Value> = Value extends Date ? string : Value
/** Columns whose values, except `Hidden`, match a schema. */
type MatchingColumn<Row, S extends TSchema, Hidden = never> = {
  [C in keyof Row]: Serialized<Exclude<Row[C], Hidden>> extends Static<S> ? C : never
}[keyof Row] &
  string
/** Turns a field that is declared by its schema alone into an error message unless a column of that name matches the schema. */
type ValidFields<Row, F> = {
  [Name in keyof F]: F[Name] extends TSchema
    ? ColumnName<Name> extends MatchingColumn<Row, F[Name]>
      ? F[Name]
      : `${ColumnName<Name> & string} is no column that this schema shows`
    : F[Name]
}
type Schemas<F> = {
  [Name in keyof F]: F[Name] extends TSchema ? F[Name] : F[Name] extends { schema: infer S extends TSchema } ? S : never
}
type ColumnOf<Row, F> = {
  [Name in keyof F]: F[Name] extends ComputedField<TSchema, infer Column> ? Column : ColumnName<Name>
}[keyof F] &
  keyof Row &
  string

export type View<Whole, F extends FieldDeclarations> =
  Whole extends FullProjection<infer T, infer Row>
    ? {
        schema: TObject<Schemas<F>>
        /** Columns that the fields are made of. */
        columns: readonly ColumnOf<Row, F>[]
        /** Projection of these columns. */
        shown: Projection<T, Pick<Row, ColumnOf<Row, F>>>
        present: (row: WithTimes<Pick<Row, ColumnOf<Row, F>>>) => Static<TObject<Schemas<F>>>
      }
    : never

/**
 * Builds views of a resource. Each field is declared once; the OpenAPI schema, the columns to read, and the presenter follow from it.
 *
 * @param whole all columns of the resource.
 */
export const createViewBuilder = <T extends keyof Tables, Row>(whole: FullProjection<T, Row>) => ({
  /** A field with another name than its column. */
  column: <S extends TSchema, Column extends MatchingColumn<Row, S>>(schema: S, column: Column): ComputedField<S, Column> => ({
    schema,
    columns: [column],
    read: createReader(schema, column),
  }),
  /** A field that is omitted while its column is null, so that the documented body stays unchanged. */
  optional: <S extends TSchema, Column extends MatchingColumn<Row, S, null>>(
    schema: S,
    column: Column,
  ): ComputedField<TOptional<S>, Column> => ({
    schema: Type.Optional<TSchema>({
      ...schema,
      description: `${schema.description}. Only there if it was given.`,
    }) as TOptional<S>,
    columns: [column],
    read: (row: Record<string, never>) => row[column] ?? (undefined as never),
  }),
  /** A field that is computed from columns. */
  computed: <S extends TSchema, Column extends keyof Row & string>(
    schema: S,
    columns: readonly Column[],
    read: (row: WithTimes<Pick<Row, Column>>) => Static<S>,
  ): ComputedField<S, Column> => ({ schema, columns, read: read as (row: never) => Static<S> }),
  /** @param fields by name: a schema for the column of that name, or a field made by the functions above. */
  view<const F extends FieldDeclarations>(
    fields: F & ValidFields<Row, F>,
    options: ObjectOptions = {},
  ): View<FullProjection<T, Row>, F> {
    const computedFields = Object.entries<TSchema | ComputedField<TSchema, string>>(fields).map(([name, field]) => ({
      name,
      ...toComputedField(name, field),
    }))
    const schemas = Object.fromEntries(computedFields.map(({ name, schema }) => [name, schema]))
    const present = (row: never) => {
      const view: Record<string, unknown> = {}
      for (const { name, read } of computedFields) {
        const value = read(row)
        if (value !== undefined) view[name] = value
      }
      return view
    }
    const columns = [...new Set(computedFields.flatMap(({ columns }) => columns))]
    return { schema: Type.Object(schemas, options), columns, shown: pickColumns(whole, columns as never), present } as never
  },
})

function toComputedField(name: string, field: TSchema | ComputedField<TSchema, string>): ComputedField<TSchema, string> {
  if ('columns' in field) return field as ComputedField<TSchema, string>
  const column = toColumnName(name)
  return { schema: field, columns: [column], read: createReader(field, column) }
}

const createReader = ({ format }: TSchema, column: string): ((row: never) => never) =>
  format === 'date-time'
    ? (row: Record<string, Time | null>) => isoTimeOrNull(row[column]!) as never
    : (row: Record<string, never>) => row[column]!
