-- What an index of parts of addresses goes by: every three characters in a row, in lower case as ILIKE compares them. Hashed together with
-- the organization, so that a search never meets another organization's addresses. A search for a part of an address finds at least the
-- addresses that have all of the part's grams. Its cost keeps PostgreSQL from computing it row by row where the index tells.
CREATE FUNCTION "address_grams"(organization_id uuid, address text) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
DECLARE
  folded CONSTANT text := lower(address);
  own CONSTANT bigint := uuid_hash_extended(organization_id, 0);
  grams bigint[] := '{}';
BEGIN
  FOR i IN 1 .. length(folded) - 2 LOOP
    grams[i] := hashtextextended(substr(folded, i, 3), own);
  END LOOP;
  RETURN grams;
END
$$;
