# Run once, by the image of PostgreSQL, in an empty database: the gateway's role owns its database and is no superuser.
psql --set ON_ERROR_STOP=1 --set password="$POSTGRES_PASSWORD" --username postgres --dbname postgres <<'SQL'
create role waygate login createdb password :'password';
create database waygate owner waygate;
SQL
